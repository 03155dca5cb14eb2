package etcd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
	"github.com/elasticron/elasticron/registry/internal/turns"
)

const (
	// baseInFlight is how many requests of commits are under way at a time: some overlap keeps the store busy,
	// and the fewer there are, the more commits gather for the next. A store that answers slowly gets one more
	// for each latencyPerRequest that it takes, up to maxInFlight.
	baseInFlight      = 4
	latencyPerRequest = 10 * time.Millisecond
	maxInFlight       = 24
	// setApartInFlight is how many requests are under way besides in each lane of commits that are set apart.
	setApartInFlight = 8
	// lookAhead bounds how many commits that conflict with others are passed over when a request is filled.
	lookAhead = 128
)

// queue gathers commits into requests. There is no goroutine while there is nothing to commit, and
// at most maxInFlight, and setApartInFlight for each other lane, otherwise.
type queue struct {
	r  *Registry
	wg sync.WaitGroup

	mu        sync.Mutex
	lanes     [3]lane
	footprint *footprint // of the request in the making
	answers   int        // how many requests were answered
	latency   latency
	closed    bool
}

// lane is commits that wait, and how many requests of such are under way. Those of one lane take nothing from another.
type lane struct {
	pending  turns.Line[*commit]
	inFlight int
}

const (
	together = iota // whatever is not set apart
	setApart        // what got no answer while other requests did: some commit of it may be what gets none
	byItself        // what got none when it was alone, either: what was merely its neighbour does not wait for it
)

// laneOf returns which lane a commit waits in.
func laneOf(c *commit) int {
	switch {
	case c.stuck:
		return byItself
	case c.companions > 0:
		return setApart
	default:
		return together
	}
}

func newQueue(r *Registry) *queue { return &queue{r: r, footprint: newFootprint()} }

// submit takes well-formed commits in and sends what can be sent.
func (q *queue) submit(ctx context.Context, commits []*commit) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range commits {
		switch {
		case q.over():
			c.fail(registry.ErrClosed)
		case ctx.Err() != nil:
			c.fail(remote.GivenUp(ctx, registry.ErrUnavailable, nil))
		default:
			c.retry = q.r.config.retryPolicy()
			q.lanes[together].pending.Add(c.txn.Turn, c)
		}
	}
	q.startRequests()
}

// wait returns the outcome. When the context or the session of the commit ends first, the commit is
// given up: it is sent no more. So is one whose turn is over before it was sent.
func (q *queue) wait(ctx context.Context, c *commit) registry.Outcome {
	select {
	case o := <-c.outcome:
		return o
	default:
	}
	over, stop := turns.After(c.txn.Turn)
	defer stop()
	for {
		select {
		case o := <-c.outcome:
			return o
		case <-over:
			q.expire(c)
			continue
		case <-ctx.Done():
			q.abandon(c, func(meaning error) error { return remote.GivenUp(ctx, meaning, nil) })
		case <-c.lost():
			q.abandon(c, func(meaning error) error { return sessionLost(c, meaning) })
		}
		return <-c.outcome
	}
}

// expire ends a commit whose turn is over, unless it is under way or was before and is to be settled.
func (q *queue) expire(c *commit) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c.request == nil && !c.explains && c.abandoned == nil {
		c.abandoned = func(error) error { return registry.ErrNotSent }
		q.leave(c, registry.ErrNotSent)
	}
}

// abandon gives a commit up. If a request with it is under way that others still wait for, its outcome
// is unknown; one that nobody waits for any more is broken off, and tells whether it was ever sent.
func (q *queue) abandon(c *commit, why func(meaning error) error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c.abandoned = why
	switch {
	case c.request == nil:
		q.leave(c, c.abandoned(c.unansweredMeaning()))
	case !c.request.abandon():
		c.fail(c.abandoned(c.request.unansweredMeaning()))
	}
}

// leave ends a commit that was abandoned while it was not under way. The caller holds mu.
func (q *queue) leave(c *commit, err error) {
	c.fail(err)
	q.lanes[laneOf(c)].pending.Leave(func(c *commit) bool { return c.abandoned != nil })
}

// unansweredMeaning is what an end without an answer means for the commit.
func (c *commit) unansweredMeaning() error {
	if c.mayBeDone {
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

// startRequests starts requests while there are commits and not too many requests. The lane of what goes together is the last
// one, as the others may add to it. The caller holds mu.
func (q *queue) startRequests() {
	for i := range slices.Backward(q.lanes[:]) {
		lane, most := &q.lanes[i], setApartInFlight
		if i == together {
			most = q.latency.parallelRequests()
		}
		for lane.inFlight < most && lane.pending.Len() > 0 {
			next := q.nextBatch(lane)
			if len(next.commits) == 0 {
				continue
			}
			lane.inFlight++
			req := q.begin(next)
			q.wg.Go(func() { q.carryOut(lane, req) })
		}
	}
}

// nextBatch removes the commits of the next request from those that are pending: the first, and those
// after it that fit. The caller holds mu.
func (q *queue) nextBatch(from *lane) *requestBuilder {
	builder, now := newRequestBuilder(q.r.config.NoCoalescing, q.footprint), time.Now()
	var passed []*commit
	for len(passed) < lookAhead && !builder.full() {
		c, ok := from.pending.Take()
		if !ok {
			break
		}
		switch {
		case c.abandoned != nil || !q.ready(c, now):
		case c.guessedWrong(q.answers):
			c.clear()
			q.lanes[together].pending.Add(c.turn(), c)
		case !builder.add(c):
			passed = append(passed, c)
		}
	}
	from.putBack(passed)
	return builder
}

// putBack has commits go before all others of their rank. The caller holds the queue's mutex.
func (l *lane) putBack(commits []*commit) {
	for _, c := range slices.Backward(commits) {
		l.pending.Return(c.turn(), c)
	}
}

// again has commits have another try. Those that are set apart go behind all that are, of whatever rank. The caller holds mu.
func (q *queue) again(commits []*commit) {
	var first []*commit
	for _, c := range commits {
		if lane := laneOf(c); lane != together {
			q.lanes[lane].pending.Add(c.turn(), c)
		} else {
			first = append(first, c)
		}
	}
	q.lanes[together].putBack(first)
}

// ready prepares a commit for its next try, or ends it if its session or its turn is over. The caller
// holds mu.
func (q *queue) ready(c *commit, now time.Time) bool {
	if c.txn.Turn.Over(now) && !c.explains {
		c.fail(registry.ErrNotSent)
		return false
	}
	if c.lostSession() != nil {
		c.fail(sessionLost(c, c.unansweredMeaning()))
		return false
	}
	if c.since == 0 {
		c.since = registry.Revision(q.r.seen.Load())
	}
	return true
}

// carryOut sends a request, tells the outcomes, and lets the next request go.
func (q *queue) carryOut(lane *lane, req *request) {
	again, wait := q.send(req)
	if len(again) > 0 && wait > 0 {
		remote.Sleep(q.r.life, wait)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	lane.inFlight--
	if q.over() {
		for _, c := range again {
			c.fail(q.closedError(c))
		}
		return
	}
	q.again(again)
	q.startRequests()
}

// over tells that nothing is sent any more: a request of a handle that has ended would fail at once, again and again. The
// caller holds mu.
func (q *queue) over() bool { return q.closed || q.r.life.Err() != nil }

// close ends all commits and returns when no request is under way.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	for i := range q.lanes {
		pending := &q.lanes[i].pending
		for c, ok := pending.Take(); ok; c, ok = pending.Take() {
			c.fail(q.closedError(c))
		}
	}
	q.mu.Unlock()
	q.wg.Wait()
}

// closedError is what a commit comes to that the handle's end interrupted.
func (q *queue) closedError(c *commit) error {
	if c.mayBeDone {
		return remote.GivenUp(q.r.life, registry.ErrUnknownOutcome, nil)
	}
	return registry.ErrClosed
}
