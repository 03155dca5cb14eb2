package etcd

import (
	"context"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// The bounds of a request that several transactions share. etcd's own are so many operations and 1.5 MiB;
// a transaction may exceed these bounds alone, and the server judges it then.
const (
	maxOps = registry.MaxOps
	// maxBytes is well below what proxies take: of 1 MiB, which is the bound of some, the server itself would take more.
	maxBytes = 1 << 19
	// maxWeight bounds the compares and writes of all transactions together, because nobody else is
	// served while the store carries out a request: this many take it about 5 ms.
	maxWeight = 1500
)

// requestBuilder is a request in the making.
type requestBuilder struct {
	single    bool // it takes only one
	filled    bool // the next one did not fit, and little else would
	groups    []group
	commits   []*commit // of all groups
	footprint *footprint
	size      int // of the largest group
	weight    int
	bytes     int
	most      int // commits; 0 is any number
}

// newRequestBuilder begins a request. It forgets what is in the footprint, which nobody else may use meanwhile.
func newRequestBuilder(single bool, footprint *footprint) *requestBuilder {
	footprint.forget()
	return &requestBuilder{single: single, footprint: footprint}
}

// full tells that nothing more fits, whatever it is.
func (b *requestBuilder) full() bool {
	return len(b.commits) > 0 && (b.single || b.filled || b.most > 0 && len(b.commits) >= b.most || b.ops() >= maxOps || b.weight >= maxWeight || b.bytes >= maxBytes)
}

// wellFilled tells that to look for something that still fits costs more than it would save. Beyond the store's capacity
// thousands wait, and nearly all of the same size.
func (b *requestBuilder) wellFilled() bool {
	return b.ops() >= maxOps*3/4 || b.weight >= maxWeight*3/4 || b.bytes >= maxBytes*3/4
}

// ops is what etcd counts against its limit of operations. It allows what is nested as many as the request has
// left of the limit.
func (b *requestBuilder) ops() int {
	if len(b.commits) == 1 {
		return b.size
	}
	return len(b.groups) + b.size
}

// add takes the commit in if it may share the request with those that are in it already.
func (b *requestBuilder) add(c *commit) bool {
	before, joined := b.groups, newGroup(c)
	weight, bytes := b.weight+c.weight(), b.bytes+c.bytes
	if last := len(b.groups) - 1; last >= 0 {
		if wider, may := b.groups[last].with(c); may {
			before, joined = b.groups[:last], wider
			weight -= wider.spared() - b.groups[last].spared()
		}
	}
	size := max(b.size, joined.size())
	if len(b.commits) > 0 {
		over := len(before)+1+size > maxOps || weight > maxWeight || bytes > maxBytes
		if c.alone || c.companions > 0 && len(b.commits) >= c.companions || over || b.footprint.conflictsWith(c.txn) {
			b.filled = over && b.wellFilled()
			return false
		}
	}
	b.single = b.single || c.alone
	if c.companions > 0 && (b.most == 0 || c.companions < b.most) {
		b.most = c.companions
	}
	b.groups = append(before, joined)
	b.commits = append(b.commits, c)
	b.footprint.add(c.txn)
	b.size, b.weight, b.bytes = size, weight, bytes
	return true
}

// request is a request that is under way.
type request struct {
	groups  []group
	commits []*commit // of all groups
	number  int       // among those of the handle
	asks    bool      // it only asks why the commits were refused
	waiters int       // commits whose callers wait; guarded by the queue's mutex
	began   time.Time
	ctx     context.Context
	cancel  context.CancelFunc
	sent    sentMarker
}

// begin makes a request of what a builder gathered, and gives it its time. The caller holds mu.
func (q *queue) begin(b *requestBuilder) *request {
	req := &request{
		groups: b.groups, commits: b.commits, number: q.r.hub.sending(), waiters: len(b.commits), began: time.Now(),
	}
	limit := q.latency.minTimeout(q.r.config.RequestTimeout, req.began)
	for _, c := range req.commits {
		c.request = req
		limit = max(limit, c.retry.tryTimeout())
	}
	req.ctx, req.cancel = context.WithTimeout(req.sent.attach(q.r.life), limit)
	return req
}

// ask ends a request that was answered, and begins another about some of its commits, which were refused or may have been
// done.
func (q *queue) ask(req *request, about []*commit, refused bool) *request {
	asking := &request{asks: refused}
	asking.ctx, asking.cancel = context.WithCancel(q.r.life)
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range req.commits {
		c.request = nil
	}
	for _, c := range about {
		if c.abandoned != nil {
			c.fail(c.abandoned(asking.unansweredMeaning()))
			continue
		}
		c.request = asking
		asking.commits = append(asking.commits, c)
	}
	asking.waiters = len(asking.commits)
	return asking
}

// told takes commits out of a request whose callers know their outcomes.
func (q *queue) told(req *request, commits ...*commit) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range commits {
		c.request = nil
		if c.abandoned == nil {
			req.waiters--
		}
	}
	rest := make([]*commit, 0, len(req.commits))
	for _, c := range req.commits {
		if c.request != nil {
			rest = append(rest, c)
		}
	}
	req.commits = rest
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

// unansweredMeaning is what an end without an answer means for the commits while the request is under way.
func (req *request) unansweredMeaning() error {
	if req.asks {
		return registry.ErrUnavailable // they were refused
	}
	return registry.ErrUnknownOutcome
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
