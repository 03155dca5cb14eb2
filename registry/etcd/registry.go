package etcd

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/internal/logqueue"
	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

var _ registry.Registry = (*Registry)(nil)

// Registry is a handle on one namespace of an etcd cluster. It has one connection to each member, one
// session, and as few watches as its views allow. It is made by [Open] or [New].
type Registry struct {
	client    *clientv3.Client
	ownClient bool
	members   *members
	kv        pb.KVClient // of our own client; nil if it is another's
	watcher   clientv3.Watcher
	stream    atomic.Int64           // number of the stream that the watches share
	ahead     atomic.Int64           // where the store must come to before it answers questions on that stream; 0 = there it is
	watched   atomic.Pointer[member] // that this stream is with; nil if it is not known
	ns        namespace
	config    Config
	log       *slog.Logger
	lines     *logqueue.Queue // of log: nothing waits for it

	life    context.Context // ends with ErrClosed as its cause
	endLife context.CancelCauseFunc

	lastFailure lastFailure
	repeats     *repeats.Log
	seen        atomic.Int64 // the newest revision that any answer showed
	wentBack    atomic.Bool  // the log says that the store did
	queue       *queue
	keeper      *sessionKeeper
	hub         *hub
	gets, lists *sharedReads // of single nodes, and of subtrees
	latches     *latches

	closing  sync.Once
	closeErr error
}

func newRegistry(client *clientv3.Client, own bool, members *members, config Config) *Registry {
	var lines *logqueue.Queue
	config.Logger, lines = logqueue.New(config.Logger)
	r := &Registry{
		lines: lines, client: client, ownClient: own, members: members, ns: newNamespace(config.Namespace), config: config,
		log: config.Logger.With("namespace", config.Namespace),
	}
	r.watcher = newWatcher(client, &r.stream, &r.ahead, &r.watched)
	if own {
		r.kv = clientv3.RetryKVClient(client)
	}
	r.repeats = repeats.New(r.log, repeats.Every)
	r.life, r.endLife = context.WithCancelCause(context.Background())
	if own {
		members.begin(r.life, r.askMember)
		members.tellOfClusters(r.log)
	}
	r.keeper = newSessionKeeper(r)
	r.queue = newQueue(r)
	r.hub = newHub(r)
	r.gets, r.lists = newSharedReads(r), newSharedReads(r)
	r.latches = newLatches(r)
	return r
}

// askMember asks one member for an answer that it only has if it is in touch with the majority.
func (r *Registry) askMember(ctx context.Context, m *member) {
	_, _ = pb.NewKVClient(r.client.ActiveConnection()).Range(question(ctx, m), &pb.RangeRequest{Key: r.members.key}) // the balancer hears of it
}

// see notes a revision that the store has reached.
func (r *Registry) see(revision int64) {
	r.lastFailure.answered()
	for {
		old := r.seen.Load()
		if revision <= old || r.seen.CompareAndSwap(old, revision) {
			return
		}
	}
}

// seeSince is see for an answer that takes in all that was there when it was asked for, and what was seen by then. A store
// that has less has lost its data, or was restored. The handle cannot go on well with it: watches wait for revisions that
// they have seen.
func (r *Registry) seeSince(seen, revision int64) {
	r.see(revision)
	if revision < seen && !r.wentBack.Swap(true) {
		r.log.Error("the store has gone back to an earlier revision",
			slog.Int64("seen", seen), slog.Int64("revision", revision), slog.String("endpoints", r.endpoints()))
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
	return r.repeatTimed(ctx, func(ctx context.Context, limit time.Duration) error { return within(ctx, limit, try) })
}

// repeatTimed is repeat for tries that bound their time themselves, because it does not begin with the call.
func (r *Registry) repeatTimed(ctx context.Context, try func(ctx context.Context, limit time.Duration) error) error {
	if r.life.Err() != nil {
		return registry.ErrClosed
	}
	ctx, cancel := r.alive(ctx)
	defer cancel()
	retry := r.config.retryPolicy()
	var last error
	for {
		if ctx.Err() != nil {
			return remote.GivenUp(ctx, registry.ErrUnavailable, last)
		}
		err := try(ctx, retry.tryTimeout())
		if err == nil {
			return nil
		}
		if refused := refusal(err); refused != nil {
			return refused
		}
		last = err
		if ctx.Err() == nil {
			r.lastFailure.note(err)
		}
		retry.noteFailure(err)
		r.tellInsistence(retry, err)
		remote.Sleep(ctx, retry.backoff())
	}
}

func within(ctx context.Context, limit time.Duration, try func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return try(ctx)
}
