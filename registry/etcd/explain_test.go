package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// A denial tells who is denied what; etcd itself says no more than that it is.
func TestADenialNamesUserRightAndKeys(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	enableAuth(t, adminOf(t, server))
	root, err := clientv3.New(clientv3.Config{Endpoints: server.Endpoints(), Username: "root", Password: "root", Logger: zap.NewNop()})
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	r, err := etcd.Open(t.Context(), etcd.Config{Endpoints: server.Endpoints(), Namespace: "ours", Username: "me", Password: "secret", DialTimeout: time.Minute})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close(t.Context())) }()
	_, err = root.RoleRevokePermission(t.Context(), "ours", "/ours/", "/ours0")
	require.NoError(t, err)

	calls := map[string]func() error{
		`lacks the permission read on the key "/ours/orders/config"`: func() error {
			_, err := r.Get(t.Context(), "/orders/config")
			return err
		},
		`lacks the permission read on the keys from "/ours/orders" to "/ours/orders0"`: func() error {
			_, err := r.View(t.Context(), "/orders")
			return err
		},
		`lacks the permission readwrite on the key "/ours/orders/config"`: func() error {
			_, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/orders/config", "x")}})
			return err
		},
		`lacks the permission read on the keys from "/ours/" to "/ours0"`: func() error {
			_, err := etcd.Open(t.Context(), etcd.Config{Endpoints: server.Endpoints(), Namespace: "ours", Username: "me", Password: "secret", DialTimeout: time.Minute})
			return err
		},
	}
	for want, call := range calls {
		err := call()
		require.ErrorIs(t, err, registry.ErrDenied)
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, `user "me"`)
	}
	_, err = etcd.Open(t.Context(), etcd.Config{Endpoints: server.Endpoints(), Namespace: "ours", Username: "me", Password: "wrong", DialTimeout: time.Minute})
	require.ErrorContains(t, err, `(user "me")`)
	require.NotContains(t, err.Error(), "wrong")
}

// Who may not write something that its session holds can neither keep the session alive nor write more in it. Both say so, and
// blame no permission that the user has.
func TestADenialNamesTheSession(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	admin := adminOf(t, server)
	do := func(_ any, err error) { t.Helper(); require.NoError(t, err) }
	do(admin.UserAdd(t.Context(), "root", "root"))
	do(admin.UserGrantRole(t.Context(), "root", "root"))
	do(admin.UserAdd(t.Context(), "me", "secret"))
	do(admin.RoleAdd(t.Context(), "ours"))
	do(admin.RoleGrantPermission(t.Context(), "ours", "/ours/", "/ours0", clientv3.PermissionType(clientv3.PermRead)))
	do(admin.RoleGrantPermission(t.Context(), "ours", "/ours/a/", "/ours/a0", clientv3.PermissionType(clientv3.PermWrite)))
	do(admin.RoleGrantPermission(t.Context(), "ours", "/ours/b/", "/ours/b0", clientv3.PermissionType(clientv3.PermWrite)))
	do(admin.UserGrantRole(t.Context(), "me", "ours"))
	do(admin.AuthEnable(t.Context()))
	root, err := clientv3.New(clientv3.Config{Endpoints: server.Endpoints(), Username: "root", Password: "root", Logger: zap.NewNop()})
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 16)}
	r := open(t, server.Endpoints(), func(c *etcd.Config) {
		c.Namespace, c.Username, c.Password, c.SessionTTL, c.Logger = "ours", "me", "secret", 20*time.Second, slog.New(log)
	})
	s := session(t, r)
	owned := func(path string) error {
		_, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned(path, "", s)}, Repeat: registry.RepeatOwned})
		return err
	}
	require.NoError(t, owned("/b/1"))
	_, err = root.RoleRevokePermission(t.Context(), "ours", "/ours/b/", "/ours/b0")
	require.NoError(t, err)

	err = owned("/a/1")
	require.ErrorIs(t, err, registry.ErrDenied)
	require.ErrorContains(t, err, `(user "me" lacks the permission readwrite on the key "/ours/a/1", on one that a condition names, or on another one of the session)`)
	select {
	case line := <-log.records:
		require.Equal(t, "the registry does not answer", line.Message)
		var said string
		line.Attrs(func(a slog.Attr) bool { said += a.String() + "\n"; return true })
		require.Contains(t, said, "asked=keep-alive")
		require.Contains(t, said, `(user "me" lacks the permission write on each key of the session, all of which begin with "/ours/")`)
	case <-time.After(time.Minute):
		require.FailNow(t, "nothing was logged")
	}
}

// told is a log handler that passes warnings on.
type told struct {
	slog.Handler
	records chan slog.Record
}

func (l told) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }
func (l told) WithAttrs([]slog.Attr) slog.Handler               { return l }

func (l told) Handle(_ context.Context, r slog.Record) error {
	select {
	case l.records <- r:
	default: // nobody looks any more
	}
	return nil
}

// An outage tells which endpoints do not answer, and what they failed with last.
func TestAnOutageNamesEndpointsAndCause(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 16)}
	endpoint := server.Endpoints()[0]
	r, err := etcd.Open(t.Context(), etcd.Config{Endpoints: []string{endpoint}, Namespace: "ours", SessionTTL: 5 * time.Second, DialTimeout: time.Minute, Logger: slog.New(log)})
	require.NoError(t, err)
	defer r.Vanish()
	_, err = r.Session(t.Context())
	require.NoError(t, err)
	server.Stop()
	var first slog.Record
	select {
	case first = <-log.records:
	case <-time.After(time.Minute):
		require.FailNow(t, "nothing was logged")
	}
	require.Equal(t, "the registry does not answer", first.Message)
	attrs := make(map[string]string)
	first.Attrs(func(a slog.Attr) bool { attrs[a.Key] = a.Value.String(); return true })
	require.Equal(t, endpoint, attrs["endpoints"])
	require.NotEmpty(t, attrs["error"])

	for name, call := range map[string]func(ctx context.Context) error{
		"get": func(ctx context.Context) error { _, err := r.Get(ctx, "/a"); return err },
		"commit": func(ctx context.Context) error {
			_, err := r.Commit(ctx, registry.Txn{Then: []registry.Write{registry.Put("/a", "x")}})
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		err := call(ctx)
		cancel()
		require.True(t, errors.Is(err, registry.ErrUnavailable) || errors.Is(err, registry.ErrUnknownOutcome), "%s: %v", name, err)
		require.ErrorContains(t, err, endpoint, name)
		require.ErrorContains(t, err, "connection refused", name)
	}
}

// A later try reads more than an earlier one, whose answer got lost. That the store does not take the later one says
// nothing about the earlier one, which was done here.
func TestARefusalOfALaterTryOnly(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		paths int   // that are looked at, and as many that are deleted
		later error // what the later try gets; nil: what the store says
	}{
		"too large": {100, nil},
		"denied":    {1, rpctypes.ErrGRPCPermissionDenied},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int64
			r := open(t, sharedServer(t).Endpoints(), func(c *etcd.Config) {
				c.RequestTimeout = time.Minute
				c.DialOptions = append(c.DialOptions, grpc.WithChainUnaryInterceptor(
					func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
						if !writes(req) {
							return invoke(ctx, method, req, reply, conn, opts...)
						}
						switch tries.Add(1) {
						case 1:
							_ = invoke(ctx, method, req, reply, conn, opts...)
							return status.Error(codes.Unavailable, "the answer was lost")
						default:
							if test.later != nil {
								return test.later
							}
							return invoke(ctx, method, req, reply, conn, opts...)
						}
					},
				))
			})
			txn := registry.Txn{Then: []registry.Write{registry.Put("/done", "")}, Repeat: registry.RepeatHarmless}
			for i := range test.paths {
				txn.If = append(txn.If, registry.Absent(fmt.Sprintf("/guard/%d", i)))
				txn.Then = append(txn.Then, registry.Delete(fmt.Sprintf("/deleted/%d", i)))
			}
			_, err := r.Commit(t.Context(), txn)
			require.ErrorIs(t, err, registry.ErrUnknownOutcome)
			for _, notDone := range []error{registry.ErrTooLarge, registry.ErrDenied} {
				require.NotErrorIs(t, err, notDone, "which says that nothing was written")
			}
			require.EqualValues(t, 2, tries.Load())
			_, err = r.Get(t.Context(), "/done")
			require.NoError(t, err)
		})
	}
}
