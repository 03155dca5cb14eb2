package etcd_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// overQuota answers that there is no space to the next requests that write.
type overQuota struct {
	answers   atomic.Int64 // how many more
	does      atomic.Bool  // the store carries them out, as when its quota is used up meanwhile
	meanwhile func()       // happens before the answer; nil = nothing
	writes    atomic.Int64 // requests
	hold      chan struct{}
}

func (o *overQuota) on(config *etcd.Config) {
	config.RequestTimeout = steadyTTL / 2
	config.DialOptions = append(config.DialOptions, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if txn, is := req.(*pb.TxnRequest); !is || !writes(txn) {
				return invoke(ctx, method, req, reply, conn, opts...)
			}
			o.writes.Add(1)
			if o.hold != nil {
				<-o.hold
			}
			if o.answers.Add(-1) < 0 {
				return invoke(ctx, method, req, reply, conn, opts...)
			}
			if o.does.Load() {
				if err := invoke(ctx, method, req, reply, conn, opts...); err != nil {
					return err
				}
			}
			if o.meanwhile != nil {
				o.meanwhile()
			}
			return rpctypes.ErrGRPCNoSpace
		},
	))
}

// etcd may carry a request out and answer all the same that there is no space. Whoever asked hears what has become of it,
// and nothing is done twice.
func TestNoSpaceAfterAll(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	var full overQuota
	r, other := open(t, server.Endpoints(), full.on), open(t, server.Endpoints())
	commit := func(does bool, writes ...registry.Write) (registry.Revision, error) {
		full.does.Store(does)
		full.answers.Store(1)
		defer full.answers.Store(0)
		return r.Commit(t.Context(), registry.Txn{Then: writes})
	}
	get := func(path string) registry.Node {
		n, err := other.Get(t.Context(), path)
		if !errors.Is(err, registry.ErrNotFound) {
			require.NoError(t, err)
		}
		return n
	}
	put(t, r, "/old", "1")
	before := get("/old")

	_, err := commit(false, registry.Put("/old", "2"), registry.Put("/new", ""))
	require.ErrorIs(t, err, registry.ErrNoSpace)
	require.Equal(t, before, get("/old"))
	require.False(t, get("/new").Exists())

	full.writes.Store(0)
	revision, err := commit(true, registry.Put("/old", "2"), registry.Put("/new", ""))
	require.NoError(t, err, "it was done")
	require.Equal(t, get("/new").Revision, revision)
	require.Equal(t, get("/old").Revision, revision)
	require.Equal(t, int64(1), full.writes.Load())

	full.meanwhile = func() { put(t, other, "/old", "theirs") }
	_, err = commit(true, registry.Put("/old", "3"))
	require.ErrorIs(t, err, registry.ErrUnknownOutcome, "others have written over it")
	require.NotErrorIs(t, err, registry.ErrNoSpace)
	full.meanwhile = nil

	revision, err = commit(true, registry.Put("/old", "4"), registry.DeleteTree("/new"))
	require.NoError(t, err)
	require.Equal(t, get("/old").Revision, revision)
	_, err = commit(false, registry.Put("/old", "5"), registry.DeleteTree("/old/below"))
	require.ErrorIs(t, err, registry.ErrNoSpace)
}

// What is absent may have been removed by others after it was done, so a creation is refused for certain only if the store has
// made no revision since.
func TestNoSpaceForWhatOthersMayHaveRemoved(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		does, repeat bool
		meanwhile    func(*testing.T, registry.Committer) // what others do
		writes       []registry.Write
		want         error
	}{
		"done, and removed": {
			does: true, want: registry.ErrUnknownOutcome,
			writes: []registry.Write{registry.Put("/new", "")},
			meanwhile: func(t *testing.T, other registry.Committer) {
				t.Helper()
				_, err := other.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete("/new")}, Repeat: registry.RepeatHarmless})
				require.NoError(t, err)
			},
		},
		"others write": {want: registry.ErrUnknownOutcome, meanwhile: writeElsewhere, writes: []registry.Write{registry.Put("/new", "")}},
		"others write, and the next tries": {
			want: registry.ErrNoSpace, repeat: true, meanwhile: writeElsewhere,
			writes: []registry.Write{registry.Put("/new", "")},
		},
		"others write, and a node is as before": {
			want: registry.ErrNoSpace, meanwhile: writeElsewhere,
			writes: []registry.Write{registry.Put("/new", ""), registry.Put("/old", "2")},
		},
		"others write, and a deleted node is there": {
			want: registry.ErrNoSpace, meanwhile: writeElsewhere,
			writes: []registry.Write{registry.Put("/new", ""), registry.Delete("/old")},
		},
		"nobody writes": {want: registry.ErrNoSpace, writes: []registry.Write{registry.Put("/new", "")}},
	} {
		t.Run(name, func(t *testing.T) {
			server := startServer(t) // on which nobody else writes
			var full overQuota
			r, other := open(t, server.Endpoints(), full.on), open(t, server.Endpoints())
			put(t, r, "/old", "1")
			if test.meanwhile != nil {
				full.meanwhile = func() { test.meanwhile(t, other) }
			}
			full.does.Store(test.does)
			commit := func() error {
				full.answers.Store(1)
				_, err := r.Commit(t.Context(), registry.Txn{Then: test.writes})
				return err
			}
			err := commit()
			if test.repeat {
				require.ErrorIs(t, err, registry.ErrUnknownOutcome)
				full.meanwhile = nil
				err = commit()
			}
			require.ErrorIs(t, err, test.want)
			if errors.Is(test.want, registry.ErrUnknownOutcome) {
				require.NotErrorIs(t, err, registry.ErrNoSpace)
			} else {
				require.NotErrorIs(t, err, registry.ErrUnknownOutcome)
			}
		})
	}
}

func writeElsewhere(t *testing.T, other registry.Committer) {
	t.Helper()
	put(t, other, "/elsewhere", "")
}

// Those that share a request which met a full store are told one by one, and what was not done is sent again alone.
func TestNoSpaceForSeveral(t *testing.T) {
	t.Parallel()
	server := startServer(t) // others would write to a shared one, and what is absent would prove nothing
	for _, does := range []bool{false, true} {
		full := overQuota{hold: make(chan struct{})}
		r, other := open(t, server.Endpoints(), full.on), open(t, server.Endpoints())
		full.does.Store(does)
		full.answers.Store(100)
		outcomes := make([]error, 50)
		var all sync.WaitGroup
		for n := range outcomes {
			all.Go(func() {
				_, outcomes[n] = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/n/"+string(rune('A'+n)), "1")}})
			})
		}
		close(full.hold)
		all.Wait()
		nodes, _, err := other.List(t.Context(), "/n")
		require.NoError(t, err)
		for n, err := range outcomes {
			if !does {
				require.ErrorIs(t, err, registry.ErrNoSpace, n)
				require.Empty(t, nodes)
				continue
			}
			require.NoError(t, err, n)
		}
		if !does {
			continue
		}
		require.Len(t, nodes, len(outcomes))
		for _, n := range nodes {
			require.Equal(t, n.Created, n.Revision, "%s was written once", n)
		}
	}
}

// What only deletes leaves nothing to recognise it by. If it was done with the request that met a full store, its second copy
// conflicts with the first, and the conflict says that it may be one's own.
func TestADeletionThatMetAFullStore(t *testing.T) {
	t.Parallel()
	var full overQuota
	r := open(t, sharedServer(t).Endpoints(), full.on)
	created := put(t, r, "/x", "1")
	full.does.Store(true)
	full.answers.Store(1)
	outcomes := r.CommitAll(t.Context(), []registry.Txn{
		{Then: []registry.Write{registry.Put("/y", "1")}},
		{If: []registry.Condition{registry.CreatedAt("/x", created)}, Then: []registry.Write{registry.Delete("/x")}},
	})
	require.NoError(t, outcomes[0].Err)
	var conflict *registry.ConflictError
	require.ErrorAs(t, outcomes[1].Err, &conflict)
	require.True(t, conflict.Ambiguous, outcomes[1].Err)
	require.False(t, conflict.Found.Exists())
}

// A place in the line for a latch that was taken and answered with "no space" is given up: nobody stands there.
func TestAPlaceInTheLineThatMetAFullStore(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	var full overQuota
	r, other := open(t, server.Endpoints(), full.on), open(t, server.Endpoints())
	session(t, r)
	full.does.Store(true)
	full.answers.Store(1)
	err := r.Latch(t.Context(), "/latch", func(context.Context) error { panic("nobody holds it") })
	require.ErrorIs(t, err, registry.ErrNoSpace)
	held := false
	require.NoError(t, other.Latch(within(t, 20*time.Second), "/latch", func(context.Context) error { held = true; return nil }))
	require.True(t, held)
}
