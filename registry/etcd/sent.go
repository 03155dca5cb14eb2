package etcd

import (
	"context"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"
)

// sentMark tells whether a request may have reached a server: only then is the outcome of a commit
// without an answer unknown. gRPC names a peer as soon as a request has a connection to travel on.
type sentMark struct{ sent atomic.Bool }

type sentMarkKey struct{}

func (m *sentMark) attach(ctx context.Context) context.Context {
	return context.WithValue(ctx, sentMarkKey{}, m)
}

// maybe is true unless the request certainly never left. A client that the user brought along does
// not note it.
func (m *sentMark) maybe(r *Registry) bool { return m.sent.Load() || !r.ownClient }

// noteSent is the interceptor that every connection of ours has.
func noteSent(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	mark, ok := ctx.Value(sentMarkKey{}).(*sentMark)
	if !ok {
		return invoke(ctx, method, req, reply, conn, opts...)
	}
	var on peer.Peer
	err := invoke(ctx, method, req, reply, conn, append(opts, grpc.Peer(&on))...)
	if on.Addr != nil {
		mark.sent.Store(true)
	}
	return err
}
