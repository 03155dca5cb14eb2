package etcd

import (
	"context"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
)

// loginLimit is how long a login may take. A server hashes the password for each, which takes a tenth of
// a second on an idle machine and many seconds on a busy one.
const loginLimit = 30 * time.Second

// login has a client's calls share one login at a time, which goes on when the call that needed it is
// over: etcd's client logs in within the time of whatever request has just found that its token is not
// valid any more, gives that up with the request, and begins afresh with the next, each time for nothing.
type login struct {
	mu      sync.Mutex
	running *loggingIn // nil while nobody logs in
}

// loggingIn is one login.
type loggingIn struct {
	done  chan struct{} // closed when reply and err are there
	reply *pb.AuthenticateResponse
	err   error
}

// share is an interceptor of all calls.
func (l *login) share(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	answer, ok := reply.(*pb.AuthenticateResponse)
	if !ok {
		return invoke(ctx, method, req, reply, conn, opts...)
	}
	in := l.join(func(in *loggingIn) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loginLimit)
		defer cancel()
		return invoke(ctx, method, req, in.reply, conn) // without the options: they tell the call that may be over
	})
	select {
	case <-in.done:
		if in.err == nil {
			answer.Header, answer.Token = in.reply.GetHeader(), in.reply.GetToken()
		}
		return in.err
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// join returns the login that is under way, or one that begins now.
func (l *login) join(run func(*loggingIn) error) *loggingIn {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running != nil {
		return l.running
	}
	in := &loggingIn{done: make(chan struct{}), reply: new(pb.AuthenticateResponse)}
	l.running = in
	go func() {
		in.err = run(in)
		l.mu.Lock()
		l.running = nil
		l.mu.Unlock()
		close(in.done)
	}()
	return in
}
