package etcd_test

import (
	"context"
	"fmt"
	"strings"
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

// Reads of the same moment travel in few requests, and each has its own answer. One that the store refuses spoils no
// other.
func TestReadsOfTheSameMomentShareRequests(t *testing.T) {
	t.Parallel()
	const readers, most = 300, 60
	var requests atomic.Int64
	all := make(chan struct{}) // closed when all readers are there
	r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
		c.RequestTimeout = time.Minute
		c.DialOptions = append(c.DialOptions, grpc.WithChainUnaryInterceptor(
			func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
				keys, reads := keysRead(req)
				if !reads {
					return invoke(ctx, method, req, reply, conn, opts...)
				}
				if strings.Contains(keys, "/n/") {
					<-all
					requests.Add(1)
				}
				if strings.Contains(keys, "/n/refused") {
					return rpctypes.ErrGRPCPermissionDenied
				}
				return invoke(ctx, method, req, reply, conn, opts...)
			}))
	})
	for n := range readers {
		put(t, r, fmt.Sprintf("/n/%d", n), fmt.Sprint(n))
	}
	var started, reading sync.WaitGroup
	started.Add(readers + 1)
	for n := range readers {
		reading.Go(func() {
			started.Done()
			if n%2 == 0 {
				node, err := r.Get(t.Context(), fmt.Sprintf("/n/%d", n))
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint(n), node.Value)
				return
			}
			nodes, _, err := r.List(t.Context(), fmt.Sprintf("/n/%d", n))
			require.NoError(t, err)
			require.Len(t, nodes, 1)
			require.Equal(t, fmt.Sprint(n), nodes[0].Value)
		})
	}
	reading.Go(func() {
		started.Done()
		_, err := r.Get(t.Context(), "/n/refused")
		require.ErrorIs(t, err, registry.ErrDenied)
	})
	started.Wait()
	close(all)
	reading.Wait()
	// Those that shared a request with the refused one asked once more.
	require.LessOrEqual(t, requests.Load(), int64(most+128))
}

// keysRead returns the keys that a request reads, and whether it only reads.
func keysRead(req any) (keys string, reads bool) {
	switch req := req.(type) {
	case *pb.RangeRequest:
		return string(req.Key) + "\n", true
	case *pb.TxnRequest:
		for _, part := range req.Success {
			if part.GetRequestRange() == nil {
				return "", false
			}
			keys += string(part.GetRequestRange().Key) + "\n"
		}
		return keys, len(req.Compare) == 0
	default:
		return "", false
	}
}
