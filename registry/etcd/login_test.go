package etcd_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry/etcd"
)

// frozenMember takes a login and a keep-alive stream and answers neither, once it stands still.
type frozenMember struct {
	frozen atomic.Bool
	logins atomic.Int64 // that it is still to take
}

func (m *frozenMember) on(config *etcd.Config) {
	config.DialOptions = append(config.DialOptions, grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if _, is := req.(*pb.AuthenticateRequest); is && m.frozen.Load() && m.logins.Add(-1) >= 0 {
				<-ctx.Done()
				return ctx.Err()
			}
			return invoke(ctx, method, req, reply, conn, opts...)
		},
	), grpc.WithChainStreamInterceptor(
		func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			stream, err := streamer(ctx, desc, conn, method, opts...)
			if err == nil && method == pb.Lease_LeaseKeepAlive_FullMethodName && !m.frozen.Load() {
				stream = frozenStream{stream, &m.frozen}
			}
			return stream, err
		},
	))
}

type frozenStream struct {
	grpc.ClientStream
	frozen *atomic.Bool
}

func (s frozenStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if s.frozen.Load() {
		<-s.Context().Done()
		return s.Context().Err()
	}
	return err
}

// A member that stands still takes the keep-alives and the login that the next stream of keep-alives needs. Another member
// has the login in its place, in time for the session.
func TestAHungLoginCostsNoSession(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	enableAuth(t, adminOf(t, server))
	var member frozenMember
	member.logins.Store(1)
	r := open(t, []string{server.Endpoints()[0], newProxy(t, server.Endpoints()[0]).endpoint()}, member.on, func(c *etcd.Config) {
		c.Namespace, c.Username, c.Password, c.SessionTTL = "ours", "me", "secret", 8*time.Second
	})
	despiteStalls(t, server, time.Second, func() error {
		member.frozen.Store(false)
		member.logins.Store(1)
		s := session(t, r)
		if err := lost(s, s.TTL()/2); err != nil { // a keep-alive stream is open
			return err
		}
		member.frozen.Store(true)
		return lost(s, s.TTL()*3/2)
	})
	require.Less(t, member.logins.Load(), int64(0), "another login was tried")
}
