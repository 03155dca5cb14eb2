package etcd

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elasticron/elasticron/registry"
)

// endingKV ends the handle's life with its first request, and counts those.
type endingKV struct {
	pb.KVClient
	r    *Registry
	sent int
}

func (kv *endingKV) Txn(context.Context, *pb.TxnRequest, ...grpc.CallOption) (*pb.TxnResponse, error) {
	kv.sent++
	kv.r.endLife(registry.ErrClosed)
	return nil, status.Error(codes.Unavailable, "no answer")
}

// A handle that is being closed sends nothing more from the beginning of its end on, and not only once its queue is closed.
func TestAHandleThatEndsSendsNothingMore(t *testing.T) {
	t.Parallel()
	for name, wantSent := range map[string]int{"before": 0, "meanwhile": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:1"}})
			require.NoError(t, err)
			config, err := Config{Endpoints: client.Endpoints(), Namespace: "ns"}.withDefaults()
			require.NoError(t, err)
			r := newRegistry(client, true, newMembers(func() int { return 1 }, config), config)
			defer func() { require.NoError(t, r.Close(context.WithoutCancel(t.Context()))) }()
			kv := &endingKV{r: r}
			r.kv = kv
			r.seen.Store(1)
			if wantSent == 0 {
				r.endLife(registry.ErrClosed)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
			defer cancel()
			_, err = r.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put("/a", "")}, Repeat: registry.RepeatHarmless})
			require.ErrorIs(t, err, registry.ErrClosed)
			require.Equal(t, wantSent, kv.sent)
		})
	}
}

// What gets no answer is split if others get one, or if nothing else helps, and not while the store is away. A commit that is
// set apart once stays so.
func TestWhatIsSetApart(t *testing.T) {
	t.Parallel()
	reset := status.Error(codes.Internal, "stream terminated by RST_STREAM")
	for name, test := range map[string]struct {
		err     error
		answers []int // how many requests were answered at each try of a request of 100
		want    []int
	}{
		"the store is away":          {reset, []int{7, 7, 7, 7}, []int{0, 0, 0, 0}},
		"for long":                   {reset, []int{7, 7, 7, 7, 7, 7}, []int{0, 0, 0, 0, 12, 12}},
		"others are answered":        {reset, []int{7, 8}, []int{0, 12}},
		"and then the store is away": {reset, []int{7, 8, 8}, []int{0, 12, 12}},
		"only before":                {reset, []int{8, 8}, []int{0, 0}},
		"a busy proxy":               {status.Error(codes.Unavailable, "503"), []int{1, 2, 3, 4, 5}, []int{0, 0, 0, 0, 12}},
		"a slow store":               {context.DeadlineExceeded, []int{1, 2, 3, 4, 5}, []int{0, 0, 0, 0, 12}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c commit
			var got []int
			for _, answers := range test.answers {
				c.suspect(100, answers, test.err)
				got = append(got, c.companions)
			}
			require.Equal(t, test.want, got)
			c.companions = 0
			c.unanswered = unansweredAlways
			c.suspect(splitBy-1, 9, test.err)
			require.Equal(t, 1, c.companions)
			require.Equal(t, setApart, laneOf(&c), "it was not alone yet")
			c.suspect(1, 9, test.err)
			require.Equal(t, byItself, laneOf(&c))
		})
	}
}

// What is passed over goes with the next request also in the lane of what is set apart, whatever its rank: what comes there
// later goes behind it.
func TestWhatIsPassedOverWhereRanksDoNotCount(t *testing.T) {
	t.Parallel()
	q := newQueue(new(Registry))
	apart := func(path string, rank registry.Rank, companions int) *commit {
		c := &commit{companions: companions}
		namespace("ns").begin(c, registry.Txn{Then: []registry.Write{registry.Put(path, "")}, Turn: registry.Turn{Rank: rank}})
		return c
	}
	neighbour := apart("/neighbour", registry.RankWork, 1)
	q.again([]*commit{apart("/first", registry.RankFirst, 12), neighbour})
	require.NotContains(t, q.nextBatch(&q.lanes[setApart]).commits, neighbour, "it goes by itself")
	q.again([]*commit{apart("/later", registry.RankFirst, 12)})
	require.Equal(t, []*commit{neighbour}, q.nextBatch(&q.lanes[setApart]).commits)
}
