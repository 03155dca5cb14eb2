package etcd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// loginLimit is how long a login may take. A server hashes the password for each, which takes a tenth of
// a second on an idle machine and many seconds on a busy one.
const loginLimit = 30 * time.Second

// login has a client's calls share one login at a time, which goes on when the call that needed it is
// over: etcd's client logs in within the time of whatever request has just found that its token is not
// valid any more, gives that up with the request, and begins afresh with the next, each time for nothing.
//
// A login that takes long may be with a member that stands still. So a call that needs it by then begins another try beside it,
// which goes to the next connection in turn: as a rule to another member, and if not, the next try does. Each has twice as long
// as the one before, as a server that is merely busy has to check a password for each.
type login struct {
	members  int
	patience time.Duration // how long the first try has before another one begins
	password func(context.Context) (string, error)

	mu      sync.Mutex
	running *loggingIn             // nil while nobody logs in
	taken   atomic.Pointer[string] // the password that etcd took last, if it was asked for; not under mu
	token   atomic.Value           // of string: what the last login came to; not under mu
}

func newLogin(config Config) *login {
	// Before the session's next keep-alive is sent, which needs the login, too; see [sessionKeeper.keepAlive].
	return &login{
		members: len(config.Endpoints), patience: min(config.RequestTimeout, config.SessionTTL/10), password: config.PasswordFunc,
	}
}

// loggingIn is one login. The mutex of [login] guards what is not set before over ends.
type loggingIn struct {
	over  context.Context // ends when reply and err are there
	end   context.CancelFunc
	reply *pb.AuthenticateResponse
	err   error
	tries int       // under way
	begun int       // tries so far
	last  time.Time // when the last of them began
}

// share is an interceptor of all calls.
func (l *login) share(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	answer, ok := reply.(*pb.AuthenticateResponse)
	if !ok {
		return invoke(ctx, method, req, reply, conn, opts...)
	}
	if ctx.Value(greetKey{}) != nil { // etcd's client logs in before each stream; that for a greeting is part of a login at times
		answer.Token, _ = l.token.Load().(string)
		return nil
	}
	in := l.join(ctx, func(ctx context.Context, reply *pb.AuthenticateResponse) error {
		return l.authenticate(ctx, req, func(req any) error {
			return invoke(ctx, method, req, reply, conn) // without the options: they tell the call that may be over
		})
	})
	select {
	case <-in.over.Done():
		if in.err == nil {
			l.token.Store(in.reply.GetToken())
			answer.Header, answer.Token = in.reply.GetHeader(), in.reply.GetToken()
		}
		return in.err
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}

// join returns the login that is under way, or one that begins now.
func (l *login) join(ctx context.Context, try func(ctx context.Context, reply *pb.AuthenticateResponse) error) *loggingIn {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := l.running
	switch {
	case in == nil:
		in = new(loggingIn)
		in.over, in.end = context.WithCancel(context.Background())
		l.running = in
	case l.members == 1 || in.tries >= 2*l.members || time.Since(in.last) < l.patience<<(in.begun-1):
		return in
	}
	in.tries++
	in.begun++
	in.last = time.Now()
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loginLimit)
		defer cancel()
		defer context.AfterFunc(in.over, cancel)() //nolint:contextcheck // the login outlives the call
		reply := new(pb.AuthenticateResponse)
		l.tried(in, reply, try(ctx, reply))
	}()
	return in
}

// tried takes in what a try came to. The first answer counts, and no answer only if no other try is under way.
func (l *login) tried(in *loggingIn, reply *pb.AuthenticateResponse, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in.tries--
	if l.running != in || in.tries > 0 && unanswered(err) {
		return
	}
	in.reply, in.err = reply, err
	l.running = nil
	in.end()
}

// authenticate sends a request with the password as it is now, and again with the one before if etcd has not heard of a change
// yet.
func (l *login) authenticate(ctx context.Context, req any, send func(req any) error) error {
	asked, ok := req.(*pb.AuthenticateRequest)
	if !ok || l.password == nil {
		return send(req)
	}
	password, err := l.ask(ctx)
	if err != nil {
		return status.Errorf(codes.Unavailable, "the password of user %s: %v", asked.Name, err)
	}
	with := func(password string) error {
		err := send(&pb.AuthenticateRequest{Name: asked.Name, Password: password})
		if err == nil {
			l.taken.Store(&password)
		}
		return err
	}
	before := l.taken.Load()
	err = with(password)
	if before != nil && *before != password && errors.Is(rpctypes.Error(err), rpctypes.ErrAuthFailed) {
		err = with(*before)
	}
	return err
}

// ask asks for the password, and waits no longer than the login may take: what is asked may not heed its context, as a file
// does that is on a server that stands still.
func (l *login) ask(ctx context.Context) (string, error) {
	type answer struct {
		password string
		err      error
	}
	answers := make(chan answer, 1)
	go func() {
		a := answer{err: errors.New("PasswordFunc ended its goroutine by runtime.Goexit")}
		defer func() {
			if p := recover(); p != nil {
				a.err = fmt.Errorf("PasswordFunc panicked: %v", p)
			}
			answers <- a
		}()
		a.password, a.err = l.password(ctx)
	}()
	select {
	case a := <-answers:
		return a.password, a.err
	case <-ctx.Done():
		return "", fmt.Errorf("not told in time: %w", ctx.Err())
	}
}

// unanswered tells whether a server has said nothing about a request.
func unanswered(err error) bool {
	switch status.Code(err) {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Canceled:
		return true
	default:
		return false
	}
}
