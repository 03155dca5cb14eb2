package etcd

import (
	"context"
	"time"
)

// The bounds of a request that several transactions share. etcd's own are 128 operations and 1.5 MiB;
// a transaction may exceed these bounds alone, and the server judges it then.
const (
	maxOps   = 128
	maxBytes = 1 << 20
	// maxWeight bounds the compares and writes of all transactions together, because nobody else is
	// served while the store carries out a request: this many take it about 5 ms.
	maxWeight = 1500
)

// requestBuilder is a request in the making.
type requestBuilder struct {
	single    bool // it takes only one
	commits   []*commit
	footprint *footprint
	size      int // of the largest transaction
	weight    int
	bytes     int
}

func newRequestBuilder(single bool) *requestBuilder {
	return &requestBuilder{single: single, footprint: newFootprint()}
}

// full tells that nothing more fits, whatever it is.
func (b *requestBuilder) full() bool {
	return len(b.commits) > 0 &&
		(b.single || len(b.commits)+b.size >= maxOps || b.weight >= maxWeight || b.bytes >= maxBytes)
}

// add takes the commit in if it may share the request with those that are in it already. etcd allows
// a nested transaction as many operations as the request has left of its limit.
func (b *requestBuilder) add(c *commit) bool {
	size := max(b.size, c.enc.size())
	weight, bytes := b.weight+c.enc.weight(), b.bytes+c.enc.keyedBytes
	if len(b.commits) > 0 {
		over := len(b.commits)+1+size > maxOps || weight > maxWeight || bytes > maxBytes
		if c.alone || over || b.footprint.conflictsWith(c.txn) {
			return false
		}
	}
	b.single = b.single || c.alone
	b.commits = append(b.commits, c)
	b.footprint.add(c.txn)
	b.size, b.weight, b.bytes = size, weight, bytes
	return true
}

// request is a request that is under way.
type request struct {
	commits []*commit
	waiters int // commits whose callers wait; guarded by the queue's mutex
	began   time.Time
	ctx     context.Context
	cancel  context.CancelFunc
	sent    sentMarker
}

// begin makes the commits those of a request, and gives it its time. The caller holds mu.
func (q *queue) begin(batch []*commit) *request {
	req := &request{commits: batch, waiters: len(batch), began: time.Now()}
	limit := q.latency.minTimeout(q.r.config.RequestTimeout)
	for _, c := range batch {
		c.request = req
		limit = max(limit, c.retry.tryTimeout())
	}
	req.ctx, req.cancel = context.WithTimeout(req.sent.attach(q.r.life), limit)
	return req
}

// abandon notes that one caller has left, and cancels the request if it was the last. It tells whether it was.
func (req *request) abandon() bool {
	req.waiters--
	if req.waiters > 0 {
		return false
	}
	req.cancel()
	return true
}

// finish ends what begin began, and returns those commits that somebody still waits for.
func (q *queue) finish(req *request, mark func(*commit)) []*commit {
	q.mu.Lock()
	defer q.mu.Unlock()
	var wanted []*commit
	for _, c := range req.commits {
		c.request = nil
		mark(c)
		if c.abandoned == nil {
			wanted = append(wanted, c)
			continue
		}
		c.fail(c.abandoned(c.unansweredMeaning()))
	}
	return wanted
}
