package etcd_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// progressCount counts how often a handle asks how far its watches are.
type progressCount struct{ asked atomic.Int64 }

func (q *progressCount) intercept(c *etcd.Config) {
	c.DialOptions = append(c.DialOptions, grpc.WithChainStreamInterceptor(func(
		ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption,
	) (grpc.ClientStream, error) {
		stream, err := open(ctx, desc, conn, method, opts...)
		return &askingStream{stream, q}, err
	}))
}

type askingStream struct {
	grpc.ClientStream
	count *progressCount
}

func (s *askingStream) SendMsg(m any) error {
	if request, is := m.(*pb.WatchRequest); is && request.GetProgressRequest() != nil {
		s.count.asked.Add(1)
	}
	return s.ClientStream.SendMsg(m)
}

// What a process does itself its view of parts shows without a question for each commit, unless somebody waits for it;
// what others do it shows after one question each.
func TestAViewOfPartsAsksLittle(t *testing.T) {
	t.Parallel()
	var asked progressCount
	server := sharedServer(t)
	r, other := open(t, server.Endpoints(), asked.intercept), open(t, server.Endpoints())
	v, err := registry.ViewParts(t.Context(), r, "/job", []registry.Part{{Folder: "/job/items", Only: []string{"1", "3"}}})
	require.NoError(t, err)
	shown := func(path string, revision registry.Revision) {
		_, err := v.WaitFor(within(t, time.Minute), func(s registry.Snapshot) bool { return s.Get(path).Revision >= revision })
		require.NoError(t, err)
	}
	cost := func(commits func() (path string, last registry.Revision)) int64 {
		least := int64(1 << 40)
		for range 5 { // a busy machine may take long for what is quick
			before := asked.asked.Load()
			shown(commits())
			least = min(least, asked.asked.Load()-before)
		}
		return least
	}
	const many = 12
	require.LessOrEqual(t, cost(func() (path string, last registry.Revision) {
		for i := range many {
			path = fmt.Sprintf("/job/items/%d/state", 1+2*(i%2))
			last = put(t, r, path, "")
			time.Sleep(5 * time.Millisecond) // as items end: long enough for a question each
		}
		return path, last
	}), int64(many/2), "what this process did")
	require.Positive(t, cost(func() (path string, last registry.Revision) {
		last = put(t, r, "/job/items/1/state", "")
		require.NoError(t, v.WaitRevision(t.Context(), last))
		return "/job/items/1/state", last
	}), "somebody waits")
	require.LessOrEqual(t, cost(func() (path string, last registry.Revision) {
		return "/job/head", put(t, other, "/job/head", "")
	}), int64(2), "what others did")
}
