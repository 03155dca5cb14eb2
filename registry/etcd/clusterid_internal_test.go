package etcd

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// ofCluster is a member that names a cluster, and refuses transactions.
type ofCluster struct {
	pb.UnimplementedKVServer
	pb.UnimplementedLeaseServer
	pb.UnimplementedWatchServer
	header  *pb.ResponseHeader
	reads   error // what it refuses reads with
	hangs   bool  // it does not answer reads
	watched bool  // it refuses watches as etcd does
}

// Watch refuses a watch, and holds the stream open.
func (m ofCluster) Watch(stream grpc.BidiStreamingServer[pb.WatchRequest, pb.WatchResponse]) error {
	if !m.watched {
		return status.Error(codes.Unimplemented, "no watches")
	}
	if _, err := stream.Recv(); err != nil {
		return err
	}
	if err := stream.Send(&pb.WatchResponse{Header: m.header, Created: true, Canceled: true}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return stream.Context().Err()
}

func (m ofCluster) Range(ctx context.Context, _ *pb.RangeRequest) (*pb.RangeResponse, error) {
	if m.hangs {
		<-ctx.Done()
	}
	return &pb.RangeResponse{Header: m.header}, m.reads
}

func (ofCluster) Txn(context.Context, *pb.TxnRequest) (*pb.TxnResponse, error) {
	return nil, rpctypes.ErrGRPCLeaseNotFound
}

func (m ofCluster) LeaseKeepAlive(stream grpc.BidiStreamingServer[pb.LeaseKeepAliveRequest, pb.LeaseKeepAliveResponse]) error {
	for {
		asked, err := stream.Recv()
		if err != nil {
			return err
		}
		if err := stream.Send(&pb.LeaseKeepAliveResponse{Header: m.header, ID: asked.ID}); err != nil { // it has no such lease
			return err
		}
	}
}

// dial connects to a member by the balancer of a handle of the cluster 1, which has two endpoints.
func (m ofCluster) dial(t *testing.T) *grpc.ClientConn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer()
	pb.RegisterKVServer(server, m)
	pb.RegisterLeaseServer(server, m)
	pb.RegisterWatchServer(server, m)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	known := newMembers(func() int { return 2 }, Config{Namespace: "n", RequestTimeout: time.Second})
	known.clusters.ours.Store(1)
	conn, err := grpc.NewClient("passthrough:///"+listener.Addr().String(),
		append(known.balance(), grpc.WithTransportCredentials(insecure.NewCredentials()))...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

// That a member has no such lease ends a session, and names no cluster: that is asked first.
func TestWhatAForeignMemberRefuses(t *testing.T) {
	t.Parallel()
	denied := status.Error(codes.PermissionDenied, "no")
	for name, test := range map[string]struct {
		member ofCluster
		want   codes.Code
	}{
		"of ours":                               {ofCluster{header: &pb.ResponseHeader{ClusterId: 1}}, codes.NotFound},
		"of another cluster":                    {ofCluster{header: &pb.ResponseHeader{ClusterId: 2}}, codes.Unavailable},
		"names none":                            {ofCluster{header: &pb.ResponseHeader{}}, codes.NotFound},
		"has no header":                         {ofCluster{}, codes.NotFound},
		"does not tell":                         {ofCluster{reads: denied}, codes.NotFound},
		"of ours, and refuses reads":            {ofCluster{header: &pb.ResponseHeader{ClusterId: 1}, reads: denied, watched: true}, codes.NotFound},
		"of another cluster, and refuses reads": {ofCluster{header: &pb.ResponseHeader{ClusterId: 2}, reads: denied, watched: true}, codes.Unavailable},
		"of another cluster, and reads hang":    {ofCluster{header: &pb.ResponseHeader{ClusterId: 2}, hangs: true, watched: true}, codes.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := test.member.dial(t)
			for range 2 {
				_, err := pb.NewKVClient(conn).Txn(t.Context(), &pb.TxnRequest{})
				require.Equal(t, test.want, status.Code(err), err)
			}
			if test.want == codes.Unavailable {
				_, err := pb.NewKVClient(conn).Txn(t.Context(), &pb.TxnRequest{})
				require.ErrorContains(t, err, " is of the cluster 2, and not of 1")
			}
		})
	}
}

// Many calls that fail at a time, of a member that does not say of which cluster it is, do not wait for each other.
func TestManyRefusalsOfAMemberThatDoesNotTell(t *testing.T) {
	t.Parallel()
	conn, began := ofCluster{hangs: true}.dial(t), time.Now()
	var calls sync.WaitGroup
	for range 30 {
		calls.Go(func() {
			_, err := pb.NewKVClient(conn).Txn(t.Context(), &pb.TxnRequest{})
			assert.Equal(t, codes.NotFound, status.Code(err), err)
		})
	}
	calls.Wait()
	require.Less(t, time.Since(began), 15*time.Second, "each asked for a second")
}

// Nor does the session end because a foreign member knows nothing of its lease.
func TestKeepAlivesOfAForeignMember(t *testing.T) {
	t.Parallel()
	for cluster, want := range map[uint64]codes.Code{0: codes.OK, 1: codes.OK, 2: codes.Unavailable} {
		stream, err := pb.NewLeaseClient(ofCluster{header: &pb.ResponseHeader{ClusterId: cluster}}.dial(t)).LeaseKeepAlive(t.Context())
		require.NoError(t, err)
		require.NoError(t, stream.Send(&pb.LeaseKeepAliveRequest{ID: 7}))
		_, err = stream.Recv()
		require.Equal(t, want, status.Code(err), err)
		require.NoError(t, stream.CloseSend())
	}
}
