package etcd

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/registry"
)

var _ registry.Registry = (*Registry)(nil)

// Registry is a handle on one namespace of an etcd cluster. It has one connection to each member, one
// session, and as few watches as its views allow. It is made by [Open] or [New].
type Registry struct {
	client    *clientv3.Client
	ownClient bool
	ns        namespace
	config    Config
	log       *slog.Logger

	life    context.Context // ends with ErrClosed as its cause
	endLife context.CancelCauseFunc

	trouble trouble
	repeats *repeats.Log
	seen    atomic.Int64 // the newest revision that any answer showed
	queue   *queue
	keeper  *keeper
	hub     *hub
	latches *latches

	closing  sync.Once
	closeErr error
}

func newRegistry(client *clientv3.Client, own bool, config Config) *Registry {
	r := &Registry{
		client: client, ownClient: own, ns: newNamespace(config.Namespace), config: config,
		log: config.Logger.With("namespace", config.Namespace),
	}
	r.repeats = repeats.New(r.log, repeats.Every)
	r.life, r.endLife = context.WithCancelCause(context.Background())
	r.keeper = newKeeper(r)
	r.queue = newQueue(r)
	r.hub = newHub(r)
	r.latches = newLatches(r)
	return r
}

// Close implements [registry.Registry]. Work stops first: the session is lost to this process, views
// and latches end. Then the lease is revoked, so that others see the process's nodes vanish at once,
// and the connections are closed. A store that does not answer is told so until it would have ended the
// lease by itself.
func (r *Registry) Close(ctx context.Context) error {
	r.closing.Do(func() { r.closeErr = opError("close", "", r.close(ctx, true)) })
	return r.closeErr
}

// Vanish ends the handle as a crash of the process would: nothing is said to the store, and the
// nodes of the session stay until its TTL has passed. It is for tests of exactly that, and for a
// process that must get out of the way without waiting for the store. Close afterwards does nothing.
func (r *Registry) Vanish() {
	r.closing.Do(func() { r.closeErr = opError("close", "", r.close(context.Background(), false)) })
}

func (r *Registry) close(ctx context.Context, farewell bool) error {
	r.endLife(registry.ErrClosed)
	held := r.keeper.close()
	r.hub.close()
	r.latches.close()
	r.queue.close()
	r.repeats.Close()
	var err error
	if farewell {
		for _, session := range held {
			err = errors.Join(err, r.revoke(ctx, session))
		}
	}
	if r.ownClient {
		err = errors.Join(err, ignoreCanceled(r.client.Close()))
	}
	return err
}

// see notes a revision that the store has reached.
func (r *Registry) see(revision int64) {
	r.trouble.answered()
	for {
		old := r.seen.Load()
		if revision <= old || r.seen.CompareAndSwap(old, revision) {
			return
		}
	}
}

// alive joins the context of a call with the life of the handle.
func (r *Registry) alive(ctx context.Context) (context.Context, context.CancelFunc) {
	joined, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(r.life, func() { cancel(registry.ErrClosed) })
	return joined, func() { stop(); cancel(nil) }
}

// repeat tries until the store answers, refuses, or ctx ends. It is for requests that may be done
// twice. The error is nil, a refusal, ErrClosed or ErrUnavailable.
func (r *Registry) repeat(ctx context.Context, try func(ctx context.Context) error) error {
	if r.life.Err() != nil {
		return registry.ErrClosed
	}
	ctx, cancel := r.alive(ctx)
	defer cancel()
	patience := r.config.patience()
	var last error
	for {
		if ctx.Err() != nil {
			return givenUp(ctx, registry.ErrUnavailable, last)
		}
		err := within(ctx, patience.limit(), try)
		if err == nil {
			return nil
		}
		if refused := refusal(err); refused != nil {
			return refused
		}
		last = err
		if ctx.Err() == nil {
			r.trouble.note(err)
		}
		patience.note(err)
		sleep(ctx, patience.pause())
	}
}

func within(ctx context.Context, limit time.Duration, try func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return try(ctx)
}
