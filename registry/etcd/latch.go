package etcd

import (
	"context"
	"fmt"
	"sync"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/elasticron/elasticron/registry"
)

// Latch implements [registry.Latcher] with an election of etcd's concurrency package, on the lease
// of the handle: the contenders are the keys "/<namespace>/<path>/<lease>", served in the order of
// their creation. Calls on the same path through the same handle wait for each other in the process,
// because a lease can stand in the line only once.
func (r *Registry) Latch(ctx context.Context, path string, fn func(ctx context.Context) error) error {
	if err := registry.CheckPath(path); err != nil {
		return r.opError("latch", path, err)
	}
	if r.life.Err() != nil {
		return r.opError("latch", path, registry.ErrClosed)
	}
	ctx, cancel := r.alive(ctx)
	defer cancel()
	held, err := r.latches.acquire(ctx, path)
	if err != nil {
		return r.opError("latch", path, err)
	}
	defer held.release(ctx)
	return held.run(ctx, fn)
}

// latches is what a handle knows of its latches.
type latches struct {
	r     *Registry
	lines lines
	wg    sync.WaitGroup
	sweep sweeper

	mu     sync.Mutex
	closed bool
	booth  *booth // of the session in force when it was last used
}

func newLatches(r *Registry) *latches {
	l := &latches{r: r}
	l.sweep.l = l
	return l
}

// acquire waits for the latch.
func (l *latches) acquire(ctx context.Context, path string) (*candidate, error) {
	leave, ok := l.lines.enter(ctx, path)
	if !ok {
		return nil, givenUp(ctx, registry.ErrUnavailable, nil)
	}
	session, err := l.r.keeper.current(ctx)
	if err != nil {
		leave()
		return nil, err
	}
	c, err := l.stand(session, path, leave) //nolint:contextcheck // a candidacy outlives the call: it cleans up
	if err != nil {
		leave()
		return nil, err
	}
	return c, c.await(ctx)
}

// stand starts a candidacy. From now on its goroutine leaves the line.
func (l *latches) stand(session *registry.Session, path string, leave func()) (*candidate, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, registry.ErrClosed
	}
	if l.booth == nil || l.booth.session != session {
		b, err := newBooth(l, session)
		if err != nil {
			return nil, err
		}
		l.booth = b
		l.sweep.reset(session.ID())
	}
	c := newCandidate(l.booth, path)
	l.wg.Go(func() {
		defer leave()
		c.campaign()
		leave()
		l.sweep.lookOut(path, c.ticket)
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

// booth is where the candidates of one session stand: etcd's own session over our lease.
type booth struct {
	r       *Registry
	session *registry.Session
	etcd    *concurrency.Session
	over    context.Context // ends with the session
}

func newBooth(l *latches, session *registry.Session) (*booth, error) {
	over, end := context.WithCancel(context.Background())
	l.wg.Go(func() {
		<-session.Done()
		end()
	})
	client := clientv3.NewCtxClient(over)
	client.KV = insistentKV{l.r.client.KV, l.r, func(key string) { l.sweep.doubt(session.ID(), key) }}
	client.Watcher = l.r.client.Watcher
	client.Lease = keptLease{}
	etcd, err := concurrency.NewSession(client, concurrency.WithLease(clientv3.LeaseID(session.ID())))
	if err != nil {
		return nil, fmt.Errorf("session for latches: %w", err)
	}
	return &booth{r: l.r, session: session, etcd: etcd, over: over}, nil
}
