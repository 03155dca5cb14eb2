package etcd

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elasticron/elasticron/registry"
)

// tryAnswer is what a try to log in comes to; after less than nothing, never.
type tryAnswer struct {
	after time.Duration
	err   error
}

// Calls share a login. One that comes when the last try has had its time begins another, up to one for each member, and the
// first answer is that of all calls.
func TestCallsShareALogin(t *testing.T) {
	t.Parallel()
	const patience = time.Second
	gone, wrong := status.Error(codes.Unavailable, "gone"), errors.New("wrong password")
	for name, test := range map[string]struct {
		members int
		calls   []time.Duration // when they come
		tries   []tryAnswer     // in order; the first answer of those has all calls
		want    error
		took    time.Duration
	}{
		"at once":                 {3, []time.Duration{0, 0, 900 * time.Millisecond}, []tryAnswer{{2 * time.Second, nil}}, nil, 2 * time.Second},
		"the first one hangs":     {3, []time.Duration{0, 2 * time.Second, 2 * time.Second}, []tryAnswer{{-1, nil}, {time.Second, nil}}, nil, 3 * time.Second},
		"two hang":                {3, []time.Duration{0, 2 * time.Second, 4 * time.Second}, []tryAnswer{{-1, nil}, {-1, nil}, {time.Second, nil}}, nil, 5 * time.Second},
		"there is no other":       {1, []time.Duration{0, 2 * time.Second, 4 * time.Second}, []tryAnswer{{9 * time.Second, nil}}, nil, 9 * time.Second},
		"one gets no answer":      {2, []time.Duration{0, 2 * time.Second}, []tryAnswer{{4 * time.Second, nil}, {time.Second, gone}}, nil, 4 * time.Second},
		"none gets an answer":     {2, []time.Duration{0, 2 * time.Second}, []tryAnswer{{4 * time.Second, gone}, {time.Second, gone}}, gone, 4 * time.Second},
		"one is told of an error": {2, []time.Duration{0, 2 * time.Second}, []tryAnswer{{-1, nil}, {time.Second, wrong}}, wrong, 3 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				l := &login{members: test.members, patience: patience}
				var mu sync.Mutex
				begun := 0
				try := func(ctx context.Context, reply *pb.AuthenticateResponse) error {
					mu.Lock()
					answer := test.tries[begun]
					begun++
					mu.Unlock()
					if answer.after < 0 {
						<-ctx.Done()
						return status.FromContextError(ctx.Err()).Err()
					}
					time.Sleep(answer.after)
					reply.Token = "token"
					return answer.err
				}
				begin := time.Now()
				var calls sync.WaitGroup
				for _, at := range test.calls {
					calls.Go(func() {
						time.Sleep(at)
						in := l.join(t.Context(), try)
						<-in.over.Done()
						assert.ErrorIs(t, in.err, test.want)
						assert.Equal(t, test.took, time.Since(begin))
						assert.Equal(t, "token", in.reply.GetToken())
					})
				}
				calls.Wait()
				require.Equal(t, len(test.tries), begun)
				require.Nil(t, l.running)
			})
		})
	}
}

// Who is asked for the password and does not answer, as a file of a server that stands still, holds up a login, and no other
// one.
func TestAPasswordThatIsNotTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told := make(chan struct{})
		l := newLogin(Config{Endpoints: []string{"a"}, PasswordFunc: func(context.Context) (string, error) { <-told; return "secret", nil }})
		send := func(any) error { t.Error("nothing is known to send"); return nil }
		ctx, cancel := context.WithTimeout(t.Context(), loginLimit)
		defer cancel()
		err := l.authenticate(ctx, &pb.AuthenticateRequest{Name: "me"}, send)
		require.Equal(t, codes.Unavailable, status.Code(err))
		require.ErrorContains(t, err, "the password of user me: not told in time")
		close(told)
	})
}

// A function of the application's that does not return fails a login, and nothing else.
func TestAPasswordFuncThatDoesNotReturn(t *testing.T) {
	t.Parallel()
	for says, ask := range map[string]func(context.Context) (string, error){
		"PasswordFunc panicked: no such file": func(context.Context) (string, error) { panic("no such file") },
		"runtime.Goexit":                      func(context.Context) (string, error) { runtime.Goexit(); return "", nil },
	} {
		synctest.Test(t, func(t *testing.T) {
			l := newLogin(Config{Endpoints: []string{"a"}, PasswordFunc: ask})
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := l.ask(ctx)
			require.ErrorContains(t, err, says)
			require.Zero(t, time.Since(began))
		})
	}
}

// A session that etcd would not grant, or for less than a second as the sum overflows, is refused when the handle is opened.
func TestTheLongestSession(t *testing.T) {
	t.Parallel()
	config := Config{Endpoints: []string{"a"}, Namespace: "ours"}
	for ttl, allowed := range map[time.Duration]bool{
		time.Second: true, 24 * time.Hour: true, 24*time.Hour + 1: false, 60 * 365 * 24 * time.Hour: false, math.MaxInt64: false,
	} {
		config.SessionTTL = ttl
		_, err := config.withDefaults()
		if allowed {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, registry.ErrInvalid)
		require.ErrorContains(t, err, "want at most 24h0m0s")
	}
}
