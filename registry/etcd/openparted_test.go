package etcd_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry/etcd"
)

// parted is a member that answers nothing for which it needs the others.
type parted struct {
	pb.UnimplementedKVServer
	pb.UnimplementedMaintenanceServer
}

func (parted) Status(context.Context, *pb.StatusRequest) (*pb.StatusResponse, error) {
	return &pb.StatusResponse{Version: "3.6.5"}, nil
}

func (parted) Range(ctx context.Context, _ *pb.RangeRequest) (*pb.RangeResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func servePartedMember(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	pb.RegisterKVServer(server, parted{})
	pb.RegisterMaintenanceServer(server, parted{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return "http://" + listener.Addr().String()
}

// A member that is parted from the others is as good a first connection as any.
func TestOpenBesideAPartedMember(t *testing.T) {
	t.Parallel()
	endpoints := append([]string{servePartedMember(t)}, startServer(t).Endpoints()...)
	for range 6 {
		r, err := etcd.Open(t.Context(), etcd.Config{Endpoints: endpoints, Namespace: "parted", DialTimeout: time.Minute})
		require.NoError(t, err)
		require.NoError(t, r.Close(t.Context()))
	}
}
