package etcd

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/encoding"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// fakeKV is a store that carries out each transaction and keeps the last one.
type fakeKV struct {
	pb.KVClient
	got *pb.TxnRequest
	err error
}

func (f *fakeKV) Txn(_ context.Context, req *pb.TxnRequest, _ ...grpc.CallOption) (*pb.TxnResponse, error) {
	f.got = req
	return &pb.TxnResponse{Succeeded: true}, f.err
}

// txnsOfAllKinds have each kind of condition and of write.
func txnsOfAllKinds(tb testing.TB) []registry.Txn {
	tb.Helper()
	s, control := backend.NewSession(7, time.Hour, backend.NewClock(), 0)
	tb.Cleanup(func() { control.Lose(registry.ErrClosed) })
	return []registry.Txn{
		{
			If: []registry.Condition{
				registry.Absent("/a"), registry.Present("/b"), registry.Unchanged("/c", 3), registry.Unchanged("/d", 0),
				registry.CreatedAt("/e", 5), registry.NotOwnedBy("/f", 7), registry.Present("/c"),
			},
			Then: []registry.Write{registry.Put("/c", "put"), registry.PutOwned("/a", "mine", s)},
		},
		{Then: []registry.Write{registry.Update("/a", "updated"), registry.Delete("/b"), registry.DeleteTree("/c")}},
		{Then: []registry.Write{registry.Put("/a", "")}},
		{ // as the begin of an item
			If: []registry.Condition{
				registry.Unchanged("/job/sharding/3/record", 9), registry.Absent("/job/sharding/3/disabled"),
				registry.Unchanged("/job/sharding/3/instance", 4), registry.Unchanged("/job/config", 1),
				registry.CreatedAt("/job/instances/me", 2), registry.Present("/job/instances/you"),
			},
			Then: []registry.Write{registry.PutOwned("/job/sharding/3/running", "me", s), registry.Overwrite("/job/sharding/3/record", "")},
		},
		{ // as its end
			If:   []registry.Condition{registry.CreatedAt("/job/sharding/3/running", 9)},
			Then: []registry.Write{registry.Delete("/job/sharding/3/running"), registry.Overwrite("/job/sharding/3/record", "")},
		},
	}
}

// A client that was brought along sends what a client of our own sends.
func TestAClientThatWasBroughtAlongSendsTheSame(t *testing.T) {
	t.Parallel()
	for _, repeated := range []bool{false, true} {
		var groups []group
		for _, txn := range txnsOfAllKinds(t) {
			groups = append(groups, newGroup(commitOf(txn, repeated)))
		}
		last := commitOf(txnsOfAllKinds(t)[3], false)
		if g, may := groups[3].with(last); may {
			groups = append(groups, g)
		}
		for n := range groups {
			for _, req := range []*pb.TxnRequest{
				namespace("/ns").encode(groups[n : n+1]), namespace("/ns").encode(groups[:n+1]),
				{Success: namespace("/ns").reads([]string{"/a", "/job/sharding/0/record", "/job/sharding/0/running"}, 7)},
			} {
				var theirs, ours fakeKV
				client := clientv3.NewCtxClient(t.Context())
				client.KV = clientv3.NewKVFromKVClient(&theirs, client)
				resp, err := (&Registry{client: client}).transact(t.Context(), req)
				require.NoError(t, err)
				require.True(t, resp.Succeeded)
				resp, err = (&Registry{kv: &ours}).transact(t.Context(), req)
				require.NoError(t, err)
				require.True(t, resp.Succeeded)
				require.Equal(t, req.String(), theirs.got.String())
				require.Same(t, req, ours.got)
			}
		}
	}
}

// commitOf returns a commit of a namespace; a repeated one may have been done.
func commitOf(txn registry.Txn, repeated bool) *commit {
	c := new(commit)
	namespace("/ns").begin(c, txn)
	c.mayBeDone, c.explains = repeated, repeated
	return c
}

// Either client gives an error back as etcd's own does.
func TestErrorsOfEitherClient(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	failing := &fakeKV{err: context.Canceled}
	client := clientv3.NewCtxClient(ctx)
	client.KV = clientv3.NewKVFromKVClient(failing, client)
	cancel()
	for _, r := range []*Registry{{client: client}, {kv: failing}} {
		_, err := r.transact(ctx, new(pb.TxnRequest))
		require.ErrorIs(t, err, context.Canceled)
	}
}

// What a transaction says in etcd's terms. It carries no read, unless it is repeated.
func TestEncode(t *testing.T) {
	t.Parallel()
	txns := txnsOfAllKinds(t)
	for _, test := range []struct {
		txn                      registry.Txn
		repeated                 bool
		compares, writes, lookAt int
	}{
		{txns[0], false, 8, 2, 0}, // a plain put asks for the lease as well; that /a is absent is said already
		{txns[0], true, 8, 2, 6},
		{txns[1], false, 1, 4, 0}, // a subtree and its root
		{txns[1], true, 1, 4, 4},
		{txns[2], false, 1, 1, 0},
		{txns[2], true, 1, 1, 1},
		{txns[3], false, 7, 2, 0}, // who owns what is overwritten is not asked
		{txns[4], false, 1, 2, 0},
		{txns[4], true, 1, 2, 1},
		{txns[3], true, 7, 2, 4}, // the nodes of the item are one range; thousands may live between two instances
	} {
		c := commitOf(test.txn, test.repeated)
		e := namespace("/ns").encode([]group{newGroup(c)})
		require.Len(t, e.Compare, test.compares)
		require.Len(t, e.Success, test.writes)
		require.Len(t, e.Failure, test.lookAt)
		require.GreaterOrEqual(t, newGroup(c).size(), max(test.compares, test.writes, test.lookAt))
		require.Equal(t, test.compares+test.writes, c.weight())
		for _, compared := range e.Compare {
			require.True(t, !test.repeated || shows(e.Failure, string(compared.Key)), "a refusal shows %s", compared.Key)
			require.True(t, shows(namespace("/ns").reads(c.lookedAt(), 7), string(compared.Key)), "it can be asked for %s", compared.Key)
		}
	}
}

// shows tells whether one of the reads shows a key.
func shows(reads []*pb.RequestOp, key string) bool {
	return slices.ContainsFunc(reads, func(op *pb.RequestOp) bool {
		r := op.GetRequestRange()
		return string(r.Key) == key || string(r.Key) < key && key < string(r.RangeEnd)
	})
}

// begins are a hundred begins of ten jobs.
func begins(tb testing.TB) []registry.Txn {
	tb.Helper()
	s, control := backend.NewSession(7, time.Hour, backend.NewClock(), 0)
	tb.Cleanup(func() { control.Lose(registry.ErrClosed) })
	txns := make([]registry.Txn, 100)
	for i := range txns {
		job := fmt.Sprintf("/job-%d", i/10)
		item := fmt.Sprintf("%s/sharding/%d", job, i%10)
		txns[i] = registry.Txn{
			If: []registry.Condition{
				registry.Unchanged(item+"/instance", 70), registry.Unchanged(item+"/next", 0), registry.Unchanged(item+"/record", 900),
				registry.Absent(item + "/disabled"), registry.Unchanged(job+"/config", 6), registry.CreatedAt(job+"/instances/me", 9),
			},
			Then: []registry.Write{registry.PutOwned(item+"/running", "me", s), registry.Overwrite(item+"/record", "running")},
		}
	}
	return txns
}

// The items of a job state what they have in common once.
func TestItemsOfAJobShareTheirConditions(t *testing.T) {
	t.Parallel()
	b := newRequestBuilder(false, newFootprint())
	for _, txn := range begins(t) {
		require.True(t, b.add(commitOf(txn, false)))
	}
	require.Len(t, b.groups, 10)
	require.Equal(t, 10+10+5, b.ops(), "jobs, items of one, conditions of one")
	require.Equal(t, 100*(7+2)-10*9*2, b.weight)
	req := namespace("/ns").encode(b.groups)
	require.Len(t, req.Success, 10)
	for _, job := range req.Success {
		require.Len(t, job.GetRequestTxn().Compare, 2)
		require.Len(t, job.GetRequestTxn().Success, 10)
		for _, item := range job.GetRequestTxn().Success {
			require.Len(t, item.GetRequestTxn().Compare, 5)
			require.Empty(t, item.GetRequestTxn().Failure)
		}
	}
}

// What it costs to make the request of a hundred begins, up to the message, and how large it is.
func BenchmarkRequestOfBegins(b *testing.B) {
	txns := begins(b)
	r := &Registry{kv: new(fakeKV)}
	var req *pb.TxnRequest
	footprint := newFootprint()
	b.ReportAllocs()
	for b.Loop() {
		build := newRequestBuilder(false, footprint)
		for _, txn := range txns {
			require.True(b, build.add(commitOf(txn, false)))
		}
		req = namespace("/ns").encode(build.groups)
		_, err := r.transact(b.Context(), req)
		require.NoError(b, err)
	}
	message, err := encoding.GetCodecV2("proto").Marshal(req)
	require.NoError(b, err)
	b.ReportMetric(float64(message.Len()), "message-B")
}
