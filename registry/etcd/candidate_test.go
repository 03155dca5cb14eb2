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
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/elasticron/elasticron/registry/etcd"
)

// begunWatches counts the watches that a handle asks for, and those among them for which a member without a leader would do.
type begunWatches struct{ all, leaderless atomic.Int64 }

func (b *begunWatches) on(config *etcd.Config) {
	config.DialOptions = append(config.DialOptions, grpc.WithChainStreamInterceptor(func(
		ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, begin grpc.Streamer, opts ...grpc.CallOption,
	) (grpc.ClientStream, error) {
		stream, err := begin(ctx, desc, conn, method, opts...)
		return &beginningStream{stream, b}, err
	}))
}

type beginningStream struct {
	grpc.ClientStream
	count *begunWatches
}

func (s *beginningStream) SendMsg(m any) error {
	if request, is := m.(*pb.WatchRequest); is && request.GetCreateRequest() != nil {
		asked, _ := metadata.FromOutgoingContext(s.Context())
		if len(asked.Get(rpctypes.MetadataRequireLeaderKey)) == 0 {
			s.count.leaderless.Add(1)
		}
		s.count.all.Add(1)
	}
	return s.ClientStream.SendMsg(m)
}

// A handle that waits for a latch misses, by a compaction, what happened while its connection was broken. It keeps its place,
// and hears of it when the latch is free; and it waits only at members that would hear of it, too.
func TestWaitingForALatchOutlastsACompaction(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	wire := newProxy(t, server.Endpoints()[0])
	var watches begunWatches
	holder, waiter := open(t, server.Endpoints()), open(t, []string{wire.endpoint()}, watches.on)
	inside, letGo, held := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		held <- holder.Latch(t.Context(), "/latch", func(ctx context.Context) error {
			close(inside)
			select {
			case <-letGo:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	<-inside
	waited := make(chan error, 1)
	go func() { waited <- waiter.Latch(t.Context(), "/latch", func(context.Context) error { return nil }) }()
	begun := func(n int64) {
		t.Helper()
		require.EventuallyWithT(t, func(c *assert.CollectT) { assert.GreaterOrEqual(c, watches.all.Load(), n) }, 30*time.Second, time.Millisecond)
	}
	begun(1)
	wire.Cut()
	for n := range 3 { // more than the watch could catch up with
		put(t, holder, "/elsewhere", fmt.Sprint(n))
	}
	compact(t, adminOf(t, server))
	wire.Break()
	wire.Heal()
	begun(2) // the same again, which meets the compaction
	select {
	case err := <-waited:
		require.FailNow(t, "the place was given up", err)
	case <-time.After(2 * time.Second):
	}
	close(letGo)
	require.NoError(t, <-held)
	select {
	case err := <-waited:
		require.NoError(t, err)
	case <-time.After(30 * time.Second):
		require.FailNow(t, "the latch is free, and the waiter has not heard of it")
	}
	require.Zero(t, watches.leaderless.Load())
}
