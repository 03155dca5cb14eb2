package etcd_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// questions are the requests by which a handle asks why it was refused.
type questions struct {
	commits, asked atomic.Int64
	meanwhile      func(ctx context.Context) // what happens on the way of one; nil = nothing
}

func (q *questions) on(config *etcd.Config) {
	config.RequestTimeout = steadyTTL / 2
	config.DialOptions = append(config.DialOptions, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			switch _, ok := req.(*pb.TxnRequest); {
			case !ok:
			case writes(req):
				q.commits.Add(1)
			default:
				q.asked.Add(1)
				if q.meanwhile != nil {
					q.meanwhile(ctx)
				}
			}
			return invoke(ctx, method, req, reply, conn, opts...)
		},
	))
}

// requireSent requires how many requests the handle has sent since the last call.
func (q *questions) requireSent(tb testing.TB, commits, asked int64) {
	tb.Helper()
	require.Equal(tb, commits, q.commits.Swap(0), "commits")
	require.Equal(tb, asked, q.asked.Swap(0), "questions")
}

// beginOf is what begins an item of a job: three of its conditions are the same for all items.
func beginOf(item string, config, instance registry.Revision) registry.Txn {
	return registry.Txn{
		If: []registry.Condition{
			registry.Absent(item + "/disabled"), registry.Unchanged("/job/config", config), registry.Unchanged("/job/instance", instance),
			registry.Absent("/job/nothing"),
		},
		Then: []registry.Write{registry.Put(item+"/record", "running"), registry.Delete(item + "/misfire")},
	}
}

// Only who is refused asks why, once for all of a request; each is told of the first of its own conditions that did
// not hold, be it one that it shares with others or not.
func TestOnlyARefusalIsExplained(t *testing.T) {
	t.Parallel()
	var q questions
	r := open(t, sharedServer(t).Endpoints(), q.on)
	config, instance := put(t, r, "/job/config", "{}"), put(t, r, "/job/instance", "me")
	disabled := put(t, r, "/job/sharding/7/disabled", "")
	q.requireSent(t, 3, 0)

	txns := make([]registry.Txn, 30)
	for i := range txns {
		txns[i] = beginOf(fmt.Sprintf("/job/sharding/%d", i), config, instance)
		if i >= 20 { // these know another config
			txns[i] = beginOf(fmt.Sprintf("/job/sharding/%d", i), config+1, instance)
		}
	}
	outcomes := r.CommitAll(t.Context(), txns[:7])
	q.requireSent(t, 1, 0)
	for _, o := range outcomes {
		require.NoError(t, o.Err)
	}
	outcomes = r.CommitAll(t.Context(), txns)
	q.requireSent(t, 1, 1)
	for i, o := range outcomes {
		item := fmt.Sprintf("/job/sharding/%d", i)
		var conflict *registry.ConflictError
		switch {
		case i == 7:
			require.ErrorAs(t, o.Err, &conflict)
			require.Equal(t, registry.Absent(item+"/disabled"), conflict.Condition)
			require.Equal(t, disabled, conflict.Found.Revision)
		case i >= 20:
			require.ErrorAs(t, o.Err, &conflict)
			require.Equal(t, registry.Unchanged("/job/config", config+1), conflict.Condition)
			require.Equal(t, registry.Node{Path: "/job/config", Value: "{}", Created: config, Revision: config}, conflict.Found)
		default:
			require.NoError(t, o.Err)
			require.Equal(t, outcomes[0].Revision, o.Revision)
		}
		if conflict != nil {
			require.Equal(t, outcomes[0].Revision, conflict.Revision)
			require.False(t, conflict.Ambiguous)
		}
	}
}

// What is shown is what refused, not what there is when the store is asked.
func TestARefusalIsExplainedByTheStateThatRefused(t *testing.T) {
	t.Parallel()
	var q questions
	server := startServer(t)
	other := open(t, server.Endpoints())
	r := open(t, server.Endpoints(), q.on)
	put(t, other, "/guard", "in the way")
	want, err := other.Get(t.Context(), "/guard")
	require.NoError(t, err)
	q.meanwhile = func(ctx context.Context) {
		_, err := other.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Delete("/guard")}, Repeat: registry.RepeatHarmless})
		assert.NoError(t, err)
	}
	guarded := registry.Txn{If: []registry.Condition{registry.Absent("/guard")}, Then: []registry.Write{registry.Put("/done", "")}}
	_, err = r.Commit(t.Context(), guarded)
	var conflict *registry.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, want, conflict.Found)
	require.Equal(t, want.Revision, conflict.Revision)
	q.requireSent(t, 1, 1)
}

// A store that has forgotten what refused judges again, and shows with its answer what it found.
func TestARefusalThatTheStoreHasForgotten(t *testing.T) {
	t.Parallel()
	var q questions
	server := startServer(t)
	other, admin := open(t, server.Endpoints()), adminOf(t, server)
	r := open(t, server.Endpoints(), q.on)
	put(t, other, "/guard", "in the way")
	then := "still in the way"
	q.meanwhile = func(ctx context.Context) {
		write := registry.Delete("/guard")
		if then != "" {
			write = registry.Update("/guard", then)
		}
		_, err := other.Commit(ctx, registry.Txn{Then: []registry.Write{write}, Repeat: registry.RepeatHarmless})
		assert.NoError(t, err)
		now, err := admin.Get(ctx, "/")
		assert.NoError(t, err)
		_, err = admin.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical())
		assert.NoError(t, err)
	}
	guarded := registry.Txn{
		If: []registry.Condition{registry.Absent("/guard")}, Then: []registry.Write{registry.Put("/done", "")},
		Turn: registry.Turn{Until: time.Now().Add(time.Hour)},
	}
	_, err := r.Commit(t.Context(), guarded)
	var conflict *registry.ConflictError
	require.ErrorAs(t, err, &conflict)
	require.Equal(t, then, conflict.Found.Value)
	require.GreaterOrEqual(t, conflict.Revision, conflict.Found.Revision)
	require.False(t, conflict.Ambiguous, "each try was answered")
	q.requireSent(t, 2, 1)

	then = ""
	_, err = r.Commit(t.Context(), guarded)
	require.NoError(t, err, "it is not in the way any more")
	q.requireSent(t, 2, 1)
}

// A turn that is over while the store is asked does not make what it refused unsent.
func TestATurnThatIsOverWhileTheStoreIsAsked(t *testing.T) {
	t.Parallel()
	var q questions
	r := open(t, sharedServer(t).Endpoints(), q.on)
	put(t, r, "/guard", "")
	inTime(t, 3*time.Second, func(t *testing.T, lasts time.Duration) (inTime bool) {
		t.Helper()
		before, until := q.commits.Load(), time.Now().Add(lasts)
		q.meanwhile = func(context.Context) { time.Sleep(time.Until(until)) }
		_, err := r.Commit(t.Context(), registry.Txn{
			If: []registry.Condition{registry.Absent("/guard")}, Then: []registry.Write{registry.Put("/done", "")},
			Turn: registry.Turn{Until: until},
		})
		if q.commits.Load() == before && !time.Now().Before(until) {
			require.ErrorIs(t, err, registry.ErrNotSent)
			return false
		}
		require.ErrorIs(t, err, registry.ErrConflict)
		return true
	})
}

// Who does not wait for the explanation knows all the same that nothing was done, be it that others wait for it or not.
func TestLeavingWhileTheStoreIsAsked(t *testing.T) {
	t.Parallel()
	h := newHeldCommits(t, false)
	require.True(t, h.sendAll(registry.Turn{}))
	first, leave := context.WithCancel(t.Context())
	last, leaveToo := context.WithCancel(t.Context())
	outcomes := make(chan error, 2)
	for i, ctx := range []context.Context{first, last} {
		h.all.Go(func() {
			_, err := h.r.Commit(ctx, registry.Txn{
				If:   []registry.Condition{registry.Absent("/before")},
				Then: []registry.Write{registry.Put(fmt.Sprint("/refused-", i), "")},
			})
			outcomes <- err
		})
		h.waits(i + 1)
	}
	for asked := false; !asked; { // the question writes nothing
		select {
		case h.allowed <- struct{}{}:
		case first := <-h.arrived:
			asked = first == ""
		}
	}
	for _, giveUp := range []context.CancelFunc{leave, leaveToo} {
		giveUp()
		err := <-outcomes
		require.ErrorIs(t, err, registry.ErrUnavailable)
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorIs(t, err, registry.ErrUnknownOutcome)
	}
	close(h.allowed)
	h.all.Wait()
}

// A plain put on a node that a session owns is not done.
func TestAnOwnedNodeIsExplained(t *testing.T) {
	t.Parallel()
	var q questions
	r := open(t, sharedServer(t).Endpoints(), q.on)
	_, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/mine", "", session(t, r))}, Repeat: registry.RepeatOwned})
	require.NoError(t, err)
	q.requireSent(t, 1, 0)
	_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/mine", "")}})
	require.ErrorIs(t, err, registry.ErrOwned)
	q.requireSent(t, 1, 1)
}
