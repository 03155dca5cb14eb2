package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/elasticron/elasticron/registry"
)

const (
	// inFlight is how many requests of commits are under way at a time. Some overlap keeps the store
	// busy; the more there are, the less do those that wait gather.
	inFlight = 4
	// lookAhead bounds how many commits that meet others are passed over when a request is filled.
	lookAhead = 128
)

// queue gathers commits into requests. There is no goroutine while there is nothing to commit, and
// at most inFlight otherwise.
type queue struct {
	r  *Registry
	wg sync.WaitGroup

	mu      sync.Mutex
	pending []*commit // in the order of their arrival
	flying  int
	pace    pace
	closed  bool
}

func newQueue(r *Registry) *queue { return &queue{r: r} }

// submit takes well-formed commits in and sends what can be sent.
func (q *queue) submit(ctx context.Context, commits []*commit) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range commits {
		switch {
		case q.closed:
			c.fail(registry.ErrClosed)
		case ctx.Err() != nil:
			c.fail(givenUp(ctx, registry.ErrUnavailable, nil))
		default:
			c.waiting = q.r.config.patience()
			q.pending = append(q.pending, c)
		}
	}
	q.pump()
}

// wait returns the outcome. When the context or the session of the commit ends first, the commit is
// given up: it is sent no more.
func (q *queue) wait(ctx context.Context, c *commit) registry.Outcome {
	select {
	case o := <-c.outcome:
		return o
	case <-ctx.Done():
		q.leave(c, func(meaning error) error { return givenUp(ctx, meaning, nil) })
	case <-c.lost():
		q.leave(c, func(meaning error) error { return sessionLost(c, meaning) })
	}
	return <-c.outcome
}

// leave gives a commit up. If a request with it is under way that others still wait for, its outcome
// is unknown; one that nobody waits for any more is broken off, and tells whether it was ever sent.
func (q *queue) leave(c *commit, why func(meaning error) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c.left = why
	switch {
	case c.flight == nil:
		c.fail(c.left(c.doubt()))
	case !c.flight.leave():
		c.fail(c.left(registry.ErrUnknownOutcome))
	}
}

// doubt is what an end without an answer means for the commit.
func (c *commit) doubt() error {
	if c.maybe {
		return registry.ErrUnknownOutcome
	}
	return registry.ErrUnavailable
}

func sessionLost(c *commit, meaning error) error {
	if errors.Is(meaning, registry.ErrUnknownOutcome) {
		return fmt.Errorf("%w: %w", meaning, c.lostSession())
	}
	return c.lostSession()
}

// pump starts requests while there are commits and not too many requests. The caller holds mu.
func (q *queue) pump() {
	for q.flying < inFlight && len(q.pending) > 0 {
		batch := q.take()
		if len(batch) == 0 {
			continue
		}
		q.flying++
		f := q.depart(batch)
		q.wg.Go(func() { q.carry(f) })
	}
}

// take removes the commits of the next request from those that are pending: the first, and those
// after it that fit. The caller holds mu.
func (q *queue) take() []*commit {
	fill := newFilling(q.r.config.NoCoalescing)
	passed, taken := 0, 0
	for _, c := range q.pending {
		if passed == lookAhead || fill.full() {
			break
		}
		taken++
		if c.left != nil || !q.ready(c) {
			continue
		}
		if !fill.add(c) {
			q.pending[passed] = c
			passed++
		}
	}
	// What was passed over stays in front of what was not looked at.
	copy(q.pending[taken-passed:taken], q.pending[:passed])
	clear(q.pending[:taken-passed])
	q.pending = q.pending[taken-passed:]
	return fill.commits
}

// ready prepares a commit for its next try, or ends it if its session is over. The caller holds mu.
func (q *queue) ready(c *commit) bool {
	if c.lostSession() != nil {
		c.fail(sessionLost(c, c.doubt()))
		return false
	}
	if c.since == 0 {
		c.since = registry.Revision(q.r.seen.Load())
	}
	if c.enc == nil {
		c.enc = q.r.ns.encode(c.txn, c.maybe)
	}
	return true
}

// carry sends a request, tells the outcomes, and lets the next request go.
func (q *queue) carry(f *flight) {
	again, wait := q.send(f)
	if len(again) > 0 && wait > 0 {
		sleep(q.r.life, wait)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.flying--
	if q.closed {
		for _, c := range again {
			c.fail(q.closedError(c))
		}
		return
	}
	q.pending = append(again, q.pending...)
	q.pump()
}

// close ends all commits and returns when no request is under way.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	for _, c := range q.pending {
		c.fail(q.closedError(c))
	}
	q.pending = nil
	q.mu.Unlock()
	q.wg.Wait()
}

// closedError is what a commit comes to that the handle's end interrupted.
func (q *queue) closedError(c *commit) error {
	if c.maybe {
		return givenUp(q.r.life, registry.ErrUnknownOutcome, nil)
	}
	return registry.ErrClosed
}
