package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/registry/internal/turns"
)

// Registry is the handle of one simulated process. All methods are safe for concurrent use.
type Registry struct {
	server   *Server
	prefix   string // of the namespace in the store's paths
	settings settings
	link     *link
	stats    counters
	gate     *turns.Gate // before requests are under way; nil if their number has no bound

	life  context.Context // ends, with registry.ErrClosed as its cause, when the handle does
	end   context.CancelCauseFunc
	loops sync.WaitGroup
	news  signal // wakes the feed: there is a commit, a new view, or somebody waits for a revision
	beat  signal // wakes the keep-alive before it is due

	lives    backend.Lives // of the views
	littered signal        // there is a latch ticket to be removed

	// seen is how far the feed has followed the store. Only the feed's goroutine uses it.
	seen registry.Revision

	mu          sync.Mutex
	views       followers
	session     *registry.Session
	control     *backend.SessionControl
	established time.Duration      // on the link's clock: when the session was asked for
	renewed     chan struct{}      // closed and replaced when a session follows another
	lease       registry.SessionID // the last one that the server granted
	givenUp     registry.SessionID // the last one that was abandoned; the server drops it soon
	lose        int                // answers still to be lost
	late        []lateness         // of the next commit requests
	broken      bool               // the watch, by BreakWatch
	denials     []denial
	litter      map[string]registry.Revision // latch tickets to be removed when the store can be reached, and when each was created that came late
	standing    map[string]struct{}          // latch tickets that somebody waits with, or holds a latch by
	swept       map[string]registry.Revision // latch tickets of this session that were removed, and when
	tickets     int                          // latch tickets taken so far
	closing     bool
	closed      chan struct{} // closed when Close or Vanish has done its work
	closeErr    error
}

var _ registry.Registry = (*Registry)(nil)

// Open gives a new process's handle on a namespace, which is one or more path segments without a
// slash at either end; "shop/eu" is what a handle on "shop" sees below "/eu". It does no I/O: the
// session comes in the background. It panics if the namespace or an option makes no sense.
func (s *Server) Open(namespace string, options ...Option) *Registry {
	settings := settings{ttl: DefaultTTL, tryTimeout: DefaultTryTimeout}
	take(&settings, options)
	if err := registry.CheckPath("/" + namespace); err != nil {
		panic(fmt.Sprintf("memory: namespace %q: %v", namespace, err))
	}
	r := &Registry{
		server: s, prefix: "/" + namespace, settings: settings, link: newLink(settings),
		news: newSignal(), beat: newSignal(), views: newFollowers(),
		littered: newSignal(), litter: make(map[string]registry.Revision), standing: make(map[string]struct{}), swept: make(map[string]registry.Revision),
		renewed: make(chan struct{}), closed: make(chan struct{}),
	}
	if settings.requests > 0 {
		r.gate = turns.NewGate(settings.requests)
	}
	r.life, r.end = context.WithCancelCause(context.Background())
	s.join(r)
	r.loops.Go(r.follow)
	r.loops.Go(r.keepSessions)
	r.loops.Go(r.sweep)
	return r
}

// Close implements [registry.Registry].
func (r *Registry) Close(ctx context.Context) error {
	if !r.beginClosing() {
		<-r.closed
		return r.closeErr
	}
	r.stopWork()
	r.closeErr = r.farewell(ctx)
	r.leave()
	return r.closeErr
}

// Vanish ends the handle as the death of its process would: without a farewell. The session and its
// nodes stay with the server until the TTL has passed. No goroutine of the handle is left when it
// returns; a Close afterwards does nothing.
func (r *Registry) Vanish() {
	if !r.beginClosing() {
		return
	}
	r.link.set(func(l *link) { l.gone = true })
	r.stopWork()
	r.leave()
}

func (r *Registry) beginClosing() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	first := !r.closing
	r.closing = true
	return first
}

// stopWork ends what uses the session, and then the session itself.
func (r *Registry) stopWork() {
	r.link.thaw("close")
	r.end(registry.ErrClosed)
	for _, f := range r.allViews() {
		f.feed.End(registry.ErrClosed)
	}
	r.loops.Wait()
	r.mu.Lock()
	control := r.control
	r.mu.Unlock()
	if control != nil {
		control.Lose(registry.ErrClosed)
	}
}

// farewell has the server drop the session now.
func (r *Registry) farewell(ctx context.Context) error {
	if r.lease == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, r.closeTime())
	defer cancel()
	err := r.link.await(ctx)
	if err == nil {
		err = r.link.carry(ctx, "farewell", func() {
			r.mu.Lock()
			givenUp := r.givenUp
			r.mu.Unlock()
			r.server.drop(givenUp)
			r.server.drop(r.lease)
		})
	}
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%w: nodes of session %s stay for up to %s: %w", registry.ErrUnavailable, r.lease, r.settings.ttl, err)
	return &registry.OpError{Op: registry.OpClose, Err: err}
}

// closeTime returns for how long a farewell makes sense.
func (r *Registry) closeTime() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.session == nil {
		return r.settings.ttl
	}
	return backend.CloseTime(r.session)
}

func (r *Registry) leave() {
	r.link.set(func(l *link) { l.gone = true })
	r.server.leave(r)
	close(r.closed)
}

// bind gives a call a context that also ends with the handle.
func (r *Registry) bind(ctx context.Context) (context.Context, context.CancelFunc) {
	bound, cancel := context.WithCancelCause(ctx)
	if r.life.Err() != nil {
		cancel(registry.ErrClosed)
	}
	stop := context.AfterFunc(r.life, func() { cancel(registry.ErrClosed) })
	return bound, func() {
		stop()
		cancel(nil)
	}
}

// unavailable is the error of a call that certainly changed nothing.
func unavailable(cause error) error {
	if errors.Is(cause, registry.ErrClosed) {
		return registry.ErrClosed
	}
	return fmt.Errorf("%w: %w", registry.ErrUnavailable, cause)
}

// ServerTime implements [registry.Clock]. It is package time plus the server's skew.
func (r *Registry) ServerTime(ctx context.Context) (time.Time, error) {
	var now time.Time
	err := r.read(ctx, registry.OpServerTime, "", &r.stats.times, &r.server.stats.times, func() { now = r.server.clock() })
	if err != nil {
		return time.Time{}, err
	}
	return now, nil
}
