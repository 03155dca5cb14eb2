package etcd

import (
	"context"
	"sync"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// Latch implements [registry.Latcher] with an election of etcd's concurrency package, on the lease
// of the handle: the contenders are the keys "/<namespace>/<path>/<lease>", served in the order of
// their creation. Calls on the same path through the same handle wait for each other in the process,
// because a lease can stand in the line only once. A holder looks once a second whether its key is still there.
func (r *Registry) Latch(ctx context.Context, path string, fn func(ctx context.Context) error) error {
	if err := registry.CheckPath(path); err != nil {
		return r.opError(registry.OpLatch, path, err)
	}
	if r.life.Err() != nil {
		return r.opError(registry.OpLatch, path, registry.ErrClosed)
	}
	ctx, cancel := r.alive(ctx)
	defer cancel()
	held, err := r.latches.acquire(ctx, path)
	if err != nil {
		return r.opError(registry.OpLatch, path, err)
	}
	defer held.release(ctx)
	return held.run(ctx, fn)
}

// latches is what a handle knows of its latches.
type latches struct {
	r       *Registry
	paths   pathMutex
	wg      sync.WaitGroup
	sweeper sweeper

	mu        sync.Mutex
	closed    bool
	elections *electionSession // of the session in force when it was last used
}

func newLatches(r *Registry) *latches {
	l := &latches{r: r}
	l.sweeper.latches = l
	return l
}

// acquire waits for the latch.
func (l *latches) acquire(ctx context.Context, path string) (*candidate, error) {
	unlock, ok := l.paths.lock(ctx, path)
	if !ok {
		return nil, remote.GivenUp(ctx, registry.ErrUnavailable, nil)
	}
	session, err := l.r.keeper.current(ctx)
	if err != nil {
		unlock()
		return nil, err
	}
	c, err := l.enter(session, path, unlock) //nolint:contextcheck // a candidacy outlives the call: it cleans up
	if err != nil {
		unlock()
		return nil, err
	}
	return c, c.await(ctx)
}

// enter starts a candidacy. From now on its goroutine leaves the line.
func (l *latches) enter(session *registry.Session, path string, unlock func()) (*candidate, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, registry.ErrClosed
	}
	// Who comes late with a session that is over must not take the place of the one that followed.
	if err := session.Err(); err != nil {
		return nil, err
	}
	if l.elections == nil || l.elections.session != session {
		s, err := newElectionSession(l, session)
		if err != nil {
			return nil, err
		}
		l.elections = s
		l.sweeper.reset(session.ID())
	}
	c := newCandidate(l.elections, path)
	l.wg.Go(func() {
		defer unlock()
		c.campaign()
		unlock()
		l.sweeper.watchTicket(path, c.ticket)
	})
	return c, nil
}

// close returns when no candidacy is left. The functions that run under a latch have had their
// contexts cancelled; they are their callers' to wait for.
func (l *latches) close() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.wg.Wait()
}
