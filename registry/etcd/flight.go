package etcd

import (
	"context"
	"time"
)

// flight is a request that is under way.
type flight struct {
	commits  []*commit
	riders   int // commits whose callers wait; guarded by the queue's mutex
	began    time.Time
	ctx      context.Context
	breakOff context.CancelFunc
	sent     sentMark
}

// depart makes the commits those of a request, and gives it its time. The caller holds mu.
func (q *queue) depart(batch []*commit) *flight {
	f := &flight{commits: batch, riders: len(batch), began: time.Now()}
	limit := q.pace.atLeast(q.r.config.RequestTimeout)
	for _, c := range batch {
		c.flight = f
		limit = max(limit, c.waiting.limit())
	}
	f.ctx, f.breakOff = context.WithTimeout(f.sent.attach(q.r.life), limit)
	return f
}

// leave takes one rider off and breaks the request off if it was the last. It tells whether it was.
func (f *flight) leave() bool {
	f.riders--
	if f.riders > 0 {
		return false
	}
	f.breakOff()
	return true
}

// land ends what depart began, and returns those commits that somebody still waits for.
func (q *queue) land(f *flight, mark func(*commit)) []*commit {
	q.mu.Lock()
	defer q.mu.Unlock()
	var wanted []*commit
	for _, c := range f.commits {
		c.flight = nil
		mark(c)
		if c.left == nil {
			wanted = append(wanted, c)
			continue
		}
		c.fail(c.left(c.doubt()))
	}
	return wanted
}
