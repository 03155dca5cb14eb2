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
			Then: []registry.Write{registry.PutOwned("/job/sharding/3/running", "me", s), registry.Put("/job/sharding/3/record", "")},
		},
	}
}

// A client that was brought along sends what a client of our own sends.
func TestAClientThatWasBroughtAlongSendsTheSame(t *testing.T) {
	t.Parallel()
	for _, repeated := range []bool{false, true} {
		var batch []*commit
		for _, txn := range txnsOfAllKinds(t) {
			batch = append(batch, &commit{txn: txn, enc: namespace("/ns").encode(txn, repeated)})
		}
		for n := range batch {
			for _, req := range []*pb.TxnRequest{requestOf(batch[n : n+1]), requestOf(batch[:n+1])} {
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

// What a transaction says in etcd's terms.
func TestEncode(t *testing.T) {
	t.Parallel()
	txns := txnsOfAllKinds(t)
	for _, test := range []struct {
		txn                      registry.Txn
		repeated                 bool
		compares, writes, lookAt int
	}{
		{txns[0], false, 8, 2, 6}, // a plain put asks for the lease as well; that /a is absent is said already
		{txns[0], true, 8, 2, 6},
		{txns[1], false, 1, 4, 1}, // a subtree and its root
		{txns[1], true, 1, 4, 4},
		{txns[2], false, 1, 1, 1},
		{txns[3], false, 8, 2, 4}, // the nodes of the item are one range; thousands may live between two instances
	} {
		e := namespace("/ns").encode(test.txn, test.repeated)
		require.Len(t, e.Compare, test.compares)
		require.Len(t, e.Success, test.writes)
		require.Len(t, e.Failure, test.lookAt)
		require.Equal(t, max(test.compares, test.writes, test.lookAt), e.size())
		require.Equal(t, test.compares+test.writes, e.weight())
		for _, c := range e.Compare {
			require.True(t, slices.ContainsFunc(e.Failure, func(op *pb.RequestOp) bool {
				r := op.GetRequestRange()
				return string(r.Key) == string(c.Key) || string(r.Key) < string(c.Key) && string(c.Key) < string(r.RangeEnd)
			}), "a refusal shows %s", c.Key)
		}
	}
}

// What it costs to make the request of a hundred begins, up to the message.
func BenchmarkRequestOfBegins(b *testing.B) {
	s, control := backend.NewSession(7, time.Hour, backend.NewClock(), 0)
	defer control.Lose(registry.ErrClosed)
	txns := make([]registry.Txn, 100)
	for i := range txns {
		item := fmt.Sprintf("/job-%d/sharding/%d", i/10, i%10)
		txns[i] = registry.Txn{
			If: []registry.Condition{
				registry.Unchanged(item+"/instance", 70), registry.Unchanged(item+"/next", 0), registry.Unchanged(item+"/record", 900),
				registry.Absent(item + "/disabled"), registry.Unchanged("/job/config", 6), registry.CreatedAt("/job/instances/me", 9),
			},
			Then: []registry.Write{registry.PutOwned(item+"/running", "me", s), registry.Put(item+"/record", "running")},
		}
	}
	r := &Registry{kv: new(fakeKV)}
	b.ReportAllocs()
	for b.Loop() {
		batch := make([]*commit, len(txns))
		for i, txn := range txns {
			batch[i] = &commit{txn: txn, enc: namespace("/ns").encode(txn, false)}
		}
		_, err := r.transact(b.Context(), requestOf(batch))
		require.NoError(b, err)
	}
}
