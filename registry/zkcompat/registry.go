package zkcompat

import (
	"context"
	"log/slog"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/internal/logqueue"
	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
	"github.com/elasticron/elasticron/registry/internal/turns"
)

var (
	_ registry.Registry   = (*Registry)(nil)
	_ registry.JavaLayout = (*Registry)(nil)
)

// underWay bounds how many transactions of a handle go by themselves at once.
const underWay = 256

// Registry is a handle on one namespace of a ZooKeeper ensemble. It has one session, and one connection
// to one server at a time. It is made by [Open].
type Registry struct {
	config  Config
	ns      namespace
	acl     []zk.ACL
	log     *slog.Logger
	lines   *logqueue.Queue // of log: nothing waits for it
	repeats *repeats.Log

	life    context.Context // ends with ErrClosed as its cause
	endLife context.CancelCauseFunc

	keeper  *sessionKeeper
	hub     *hub
	queue   *queue
	parents parents
	gate    *turns.Gate // before transactions that go by themselves
	errands errands     // of latches

	closing  sync.Once
	closeErr error
}

func newRegistry(config Config) *Registry {
	var lines *logqueue.Queue
	config.Logger, lines = logqueue.New(config.Logger)
	r := &Registry{
		lines: lines, config: config, ns: newNamespace(config.Namespace), acl: config.acl(),
		log: config.Logger.With("namespace", config.Namespace), gate: turns.NewGate(underWay),
	}
	r.repeats = repeats.New(r.log, repeats.Every)
	r.life, r.endLife = context.WithCancelCause(context.Background())
	r.keeper = newSessionKeeper(r)
	r.hub = newHub(r)
	r.queue = newQueue(r)
	return r
}

// JavaLayout implements [registry.JavaLayout].
func (r *Registry) JavaLayout() (root string, ok bool) { return r.ns.base, true }

func (r *Registry) start() {
	r.keeper.wg.Go(r.keeper.run)
	r.hub.wg.Go(r.hub.run)
	r.queue.wg.Go(r.queue.run)
}

// hear takes in every event of a link.
func (r *Registry) hear(l *link, e zk.Event) {
	if e.Type == zk.EventSession {
		r.keeper.hear(l, e.State)
		r.hub.wakeUp()
		return
	}
	r.hub.hear(l, e)
}

// Close implements [registry.Registry]. Work stops first: the session is lost to this process, views
// and latches end. Then the server is asked to close the session, so that others see the process's
// nodes vanish at once, and the connection is closed. That is tried, on new connections, too, until the server
// confirms it, the context ends, or the session has timed out by itself.
func (r *Registry) Close(ctx context.Context) error {
	r.closing.Do(func() { r.closeErr = remote.OpError(registry.OpClose, "", r.close(ctx, true)) })
	return r.closeErr
}

// Vanish ends the handle as a crash of the process would: nothing is said to the server, and the nodes
// of the session stay until it times out. It is for tests of exactly that, and for a process that must
// get out of the way without waiting for the server. Close afterwards does nothing. It takes up to a
// second.
func (r *Registry) Vanish() {
	r.closing.Do(func() { r.closeErr = remote.OpError(registry.OpClose, "", r.close(context.Background(), false)) })
}

func (r *Registry) close(ctx context.Context, endSession bool) error {
	r.endLife(registry.ErrClosed)
	last := r.keeper.close()
	r.hub.close()
	r.errands.close()
	var err error
	if last != nil {
		err = last.close(ctx, endSession, r.keeper.closeTime())
	}
	r.hub.wg.Wait()
	r.queue.wg.Wait()
	r.repeats.Close()
	r.lines.Flush(logqueue.LastLines)
	return err
}

// alive joins the context of a call with the life of the handle.
func (r *Registry) alive(ctx context.Context) (context.Context, context.CancelFunc) {
	joined, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.life, func() { cancel(registry.ErrClosed) })
	return joined, func() { stop(); cancel(nil) }
}
