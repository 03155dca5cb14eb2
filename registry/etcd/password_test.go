package etcd_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// The password of the user is changed while a process runs, which hears of that before etcd does, or after. It costs no
// session.
func TestThePasswordIsChanged(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	enableAuth(t, adminOf(t, server))
	root, err := clientv3.New(clientv3.Config{Endpoints: server.Endpoints(), Username: "root", Password: "root", Logger: zap.NewNop()})
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	var password atomic.Value
	var asked, fails atomic.Int64
	password.Store("secret")
	r := open(t, server.Endpoints(), func(c *etcd.Config) {
		c.Namespace, c.Username, c.SessionTTL = "ours", "me", 20*time.Second
		c.PasswordFunc = func(context.Context) (string, error) {
			asked.Add(1)
			if fails.Add(-1) >= 0 {
				return "", errors.New("no such file")
			}
			return password.Load().(string), nil
		}
	})
	s := session(t, r)
	put(t, r, "/a", "1")
	// changed has etcd take no token of before.
	changed := func(_ any, err error) {
		t.Helper()
		require.NoError(t, err)
		before := asked.Load()
		put(t, r, "/a", "2")
		require.Greater(t, asked.Load(), before, "nobody had to log in")
	}
	password.Store("new")
	changed(root.UserChangePassword(t.Context(), "me", "secret")) // by which the user has to log in, and etcd knows the old one alone
	changed(root.UserChangePassword(t.Context(), "me", "new"))
	fails.Store(2)
	password.Store("third")
	changed(root.UserChangePassword(t.Context(), "me", "third"))

	require.NoError(t, s.Err())
	_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/mine", "", s)}, Repeat: registry.RepeatOwned})
	require.NoError(t, err)

	// Who starts by then is refused by the old one, and by nothing else.
	_, err = etcd.Open(t.Context(), etcd.Config{
		Endpoints: server.Endpoints(), Namespace: "ours", Username: "me", DialTimeout: time.Minute,
		PasswordFunc: func(context.Context) (string, error) { return "new", nil },
	})
	require.ErrorIs(t, err, registry.ErrDenied)
	require.NotContains(t, err.Error(), "new")
}

func TestOnePasswordIsGiven(t *testing.T) {
	t.Parallel()
	ask := func(context.Context) (string, error) { return "secret", nil }
	for want, config := range map[string]etcd.Config{
		"must be given together": {PasswordFunc: ask},
		"want one of them":       {Username: "me", Password: "secret", PasswordFunc: ask},
	} {
		config.Endpoints, config.Namespace = []string{"http://127.0.0.1:1"}, "ours"
		_, err := etcd.Open(t.Context(), config)
		require.ErrorIs(t, err, registry.ErrInvalid)
		require.ErrorContains(t, err, want)
	}
}

// outworn are keep-alives of a stream whose token ends after the second of them.
type outworn struct {
	grpc.ClientStream
	left  int
	ended *atomic.Int64
}

func (s *outworn) RecvMsg(m any) error {
	if s.left--; s.left < 0 {
		s.ended.Add(1)
		return rpctypes.ErrGRPCInvalidAuthToken
	}
	return s.ClientStream.RecvMsg(m)
}

// A token that ends, as one of JSON does after some minutes, is no fault of the store, and nobody is told of one.
func TestTokensOfKeepAlivesEnd(t *testing.T) {
	t.Parallel()
	var ended atomic.Int64
	log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 16)}
	r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
		c.SessionTTL, c.Logger = 20*time.Second, slog.New(log)
		c.RequestTimeout = time.Minute // a slow machine is no fault of the store either
		c.DialOptions = append(c.DialOptions, grpc.WithChainStreamInterceptor(
			func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
				stream, err := streamer(ctx, desc, conn, method, opts...)
				if err == nil && method == pb.Lease_LeaseKeepAlive_FullMethodName {
					stream = &outworn{stream, 2, &ended}
				}
				return stream, err
			},
		))
	})
	s := session(t, r)
	require.Eventually(t, func() bool { return ended.Load() > 0 }, time.Minute, 10*time.Millisecond)
	select {
	case line := <-log.records:
		require.Fail(t, "somebody is told", line.Message)
	case <-time.After(time.Second):
	}
	require.NoError(t, s.Err())
}
