package etcd_test

import (
	"context"
	"crypto/tls"
	"errors"
	"math"
	"net"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/integration/ports"
	"github.com/elasticron/elasticron/internal/tlstest"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

func TestInvalidConfigNamesEveryFault(t *testing.T) {
	t.Parallel()
	_, err := etcd.Open(t.Context(), etcd.Config{
		Endpoints: []string{""}, Namespace: "a//b", Username: "me",
		SessionTTL: time.Millisecond, DialTimeout: -1, RequestTimeout: -2,
	})
	require.ErrorIs(t, err, registry.ErrInvalid)
	for _, field := range []string{"Endpoints[0]", `namespace "a//b"`, "Password", "SessionTTL is 1ms", "DialTimeout is -1ns", "RequestTimeout is -2ns"} {
		require.ErrorContains(t, err, field)
	}
	_, err = etcd.Open(t.Context(), etcd.Config{})
	require.ErrorContains(t, err, "Endpoints is empty")
	require.ErrorContains(t, err, "Namespace is empty")
}

// refuseToOpen requires that Open fails, soon and without a trace.
func refuseToOpen(t *testing.T, config etcd.Config) error {
	t.Helper()
	config.Namespace = "n"
	if config.DialTimeout == 0 {
		config.DialTimeout = 5 * time.Minute // not to be waited for
	}
	begin := time.Now()
	_, err := etcd.Open(t.Context(), config)
	require.Error(t, err)
	require.Less(t, time.Since(begin), 2*time.Minute)
	return err
}

func TestOpenWithoutAServer(t *testing.T) {
	t.Parallel()
	free, err := ports.Claim(1)
	require.NoError(t, err)
	endpoint := "http://127.0.0.1:" + free[0]
	err = refuseToOpen(t, etcd.Config{Endpoints: []string{endpoint}, DialTimeout: 2 * time.Second})
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorContains(t, err, endpoint)
	require.ErrorContains(t, err, "connection refused")
	err = refuseToOpen(t, etcd.Config{Endpoints: []string{endpoint}, Username: "me", Password: "secret", DialTimeout: 2 * time.Second})
	require.ErrorContains(t, err, "connection refused")

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = etcd.Open(ctx, etcd.Config{Endpoints: []string{endpoint}, Namespace: "n"})
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "no answer from "+endpoint+" before the context ended (context canceled): ")
}

func TestOpenOfASilentServer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and says nothing
	require.NoError(t, err)
	defer silent.Close()
	err = refuseToOpen(t, etcd.Config{Endpoints: []string{silent.Addr().String()}, DialTimeout: 300 * time.Millisecond})
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorContains(t, err, silent.Addr().String())
}

func TestOpenWaitsForAServerThatIsComing(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	server.Stop()
	restarted := make(chan error, 1)
	go func() {
		time.Sleep(300 * time.Millisecond)
		restarted <- server.Restart(context.WithoutCancel(t.Context()))
	}()
	put(t, open(t, server.Endpoints()), "/a", "1")
	require.NoError(t, <-restarted)
}

func TestOpenWithTLS(t *testing.T) {
	t.Parallel()
	ours, theirs, dir := tlstest.New(t), tlstest.New(t), t.TempDir()
	ca, cert, key := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "server.pem"), filepath.Join(dir, "server.key")
	ours.Write(ca)
	ours.Issue(cert, key, "server", "127.0.0.1")
	open1 := startServer(t, etcdserver.WithTLS(cert, key, ""))
	strict := startServer(t, etcdserver.WithTLS(cert, key, ca))
	trust := func(a *tlstest.Authority) *tls.Config {
		return &tls.Config{RootCAs: a.Pool(), MinVersion: tls.VersionTLS12}
	}
	plain := sharedServer(t)

	put(t, open(t, open1.Endpoints(), func(c *etcd.Config) { c.TLS = trust(ours) }), "/a", "1")
	ours.Issue(filepath.Join(dir, "me.pem"), filepath.Join(dir, "me.key"), "me", "127.0.0.1")
	me, err := tls.LoadX509KeyPair(filepath.Join(dir, "me.pem"), filepath.Join(dir, "me.key"))
	require.NoError(t, err)
	r := open(t, strict.Endpoints(), func(c *etcd.Config) {
		c.TLS = trust(ours)
		c.TLS.Certificates = []tls.Certificate{me}
	})
	put(t, r, "/a", "1")
	requireServerTime(t, r)

	err = refuseToOpen(t, etcd.Config{Endpoints: open1.Endpoints(), TLS: trust(theirs)})
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorContains(t, err, "certificate signed by unknown authority")

	err = refuseToOpen(t, etcd.Config{Endpoints: strict.Endpoints(), TLS: trust(ours), DialTimeout: time.Minute})
	require.ErrorIs(t, err, registry.ErrDenied)
	require.ErrorContains(t, err, "certificate")

	secure := []string{strings.Replace(plain.Endpoints()[0], "http://", "https://", 1)}
	err = refuseToOpen(t, etcd.Config{Endpoints: secure, TLS: trust(ours), DialTimeout: time.Second}) // a server without TLS hangs up
	require.ErrorIs(t, err, registry.ErrUnavailable)
	require.ErrorContains(t, err, "handshake failed")

	insecure := []string{strings.Replace(open1.Endpoints()[0], "https://", "http://", 1)}
	err = refuseToOpen(t, etcd.Config{Endpoints: insecure, DialTimeout: 500 * time.Millisecond})
	require.ErrorIs(t, err, registry.ErrUnavailable)
}

// A connection that is lost while TLS shakes hands, as with a server that is about to start, is followed by another one.
func TestOpenAfterALostHandshake(t *testing.T) {
	t.Parallel()
	ours, dir := tlstest.New(t), t.TempDir()
	ours.Issue(dir+"/server.pem", dir+"/server.key", "server", "127.0.0.1")
	server := startServer(t, etcdserver.WithTLS(dir+"/server.pem", dir+"/server.key", ""))
	for name, spoil := range map[string]func(net.Conn){
		"hung up": func(c net.Conn) { _ = c.Close() },
		"reset":   func(c net.Conn) { _ = errors.Join(c.(*net.TCPConn).SetLinger(0), c.Close()) },
		"mute":    func(net.Conn) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spoils := serve(t, spoil)
			lost := func(dialed *atomic.Int64, most int64) grpc.DialOption {
				return grpc.WithContextDialer(func(ctx context.Context, address string) (net.Conn, error) {
					if dialed.Add(1) <= most {
						address = spoils
					}
					return new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(address, "https://"))
				})
			}
			var dialed atomic.Int64
			config := etcd.Config{
				TLS:         &tls.Config{RootCAs: ours.Pool(), MinVersion: tls.VersionTLS12},
				DialTimeout: time.Minute, DialOptions: []grpc.DialOption{lost(&dialed, 1)},
			}
			put(t, open(t, server.Endpoints(), func(c *etcd.Config) {
				c.TLS, c.DialTimeout, c.DialOptions = config.TLS, config.DialTimeout, config.DialOptions
			}), "/a", "1")
			require.EqualValues(t, 2, dialed.Load())

			config.Endpoints, config.DialTimeout = server.Endpoints(), time.Second
			config.DialOptions = []grpc.DialOption{lost(new(atomic.Int64), math.MaxInt64)}
			err := refuseToOpen(t, config)
			require.ErrorIs(t, err, registry.ErrUnavailable)
			require.ErrorContains(t, err, "within 1s")
		})
	}
}

// serve returns an address at which each connection comes to something once it is greeted.
func serve(t *testing.T, what func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	t.Cleanup(func() { _ = listener.Close() })
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close() //nolint:errcheck // most are closed already
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				what(conn)
			}
		}
	})
	return listener.Addr().String()
}

// TestOpenWithPassword has a user who may use one namespace only.
func TestOpenWithPassword(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	enableAuth(t, adminOf(t, server))
	as := func(namespace, user, password string) etcd.Config {
		return etcd.Config{Endpoints: server.Endpoints(), Namespace: namespace, Username: user, Password: password, DialTimeout: time.Minute}
	}
	for name, config := range map[string]etcd.Config{
		"wrong password": as("ours", "me", "wrong"), "unknown user": as("ours", "you", "secret"),
		"no user": as("ours", "", ""), "another namespace": as("theirs", "me", "secret"),
	} {
		_, err := etcd.Open(t.Context(), config)
		require.ErrorIs(t, err, registry.ErrDenied, name)
	}

	config := as("ours", "me", "secret")
	config.SessionTTL = 9 * time.Second
	r, err := etcd.Open(t.Context(), config)
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close(t.Context())) }()
	s := session(t, r)
	v, err := r.View(t.Context(), "/")
	require.NoError(t, err)
	revision, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/mine", "1", s)}, Repeat: registry.RepeatOwned})
	require.NoError(t, err)
	require.NoError(t, v.WaitRevision(t.Context(), revision))
	require.NoError(t, r.Latch(t.Context(), "/latch", func(context.Context) error { return nil }))
	select {
	case <-s.Done():
		t.Fatal("keep-alives need no other permission", s.Err())
	case <-time.After(5 * time.Second): // beyond the first keep-alive
	}
}

func enableAuth(t *testing.T, admin *clientv3.Client) {
	t.Helper()
	do := func(_ any, err error) { t.Helper(); require.NoError(t, err) }
	do(admin.UserAdd(t.Context(), "root", "root"))
	do(admin.UserGrantRole(t.Context(), "root", "root"))
	do(admin.UserAdd(t.Context(), "me", "secret"))
	do(admin.RoleAdd(t.Context(), "ours"))
	do(admin.RoleGrantPermission(t.Context(), "ours", "/ours/", "/ours0", clientv3.PermissionType(clientv3.PermReadWrite)))
	do(admin.UserGrantRole(t.Context(), "me", "ours"))
	do(admin.AuthEnable(t.Context()))
}

// Some servers tell their version to root alone; the role of the namespace is enough to open it all the same.
func TestOpenWithAServerThatHidesItsVersion(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	enableAuth(t, adminOf(t, server))
	var asked atomic.Int64
	hide := grpc.WithChainUnaryInterceptor(
		func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			if method == pb.Maintenance_Status_FullMethodName {
				asked.Add(1)
				return rpctypes.ErrGRPCPermissionDenied
			}
			return invoke(ctx, method, req, reply, conn, opts...)
		},
	)
	put(t, open(t, server.Endpoints(), func(c *etcd.Config) {
		c.Namespace, c.Username, c.Password, c.DialOptions = "ours", "me", "secret", []grpc.DialOption{hide}
	}), "/a", "1")
	require.EqualValues(t, 1, asked.Load())
}

// TestFailedOpensLeaveNothing counts what is left of many; TestMain looks at what it is.
func TestFailedOpensLeaveNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		_, err := etcd.Open(t.Context(), etcd.Config{
			Endpoints: []string{"127.0.0.1:1"}, Namespace: "n", DialTimeout: 20 * time.Millisecond,
		})
		require.ErrorIs(t, err, registry.ErrUnavailable)
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() <= before+5 }, time.Minute, 10*time.Millisecond)
}

// TestAViewThatIsDenied takes the permission from a user who follows the namespace. etcd asks for it when a
// watch begins, so that is when the view ends; it says why, and can be opened again when it may be.
func TestAViewThatIsDenied(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	enableAuth(t, adminOf(t, server))
	root, err := clientv3.New(clientv3.Config{Endpoints: server.Endpoints(), Username: "root", Password: "root", Logger: zap.NewNop()})
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	network := newProxy(t, server.Endpoints()[0])
	r, err := etcd.Open(t.Context(), etcd.Config{Endpoints: []string{network.endpoint()}, Namespace: "ours", Username: "me", Password: "secret", DialTimeout: time.Minute})
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close(t.Context())) }()
	v, err := r.View(t.Context(), "/")
	require.NoError(t, err)
	_, err = root.RoleRevokePermission(t.Context(), "ours", "/ours/", "/ours0")
	require.NoError(t, err)
	network.Break()
	select {
	case <-v.Done():
	case <-time.After(time.Minute):
		require.FailNow(t, "the view goes on")
	}
	require.ErrorIs(t, v.Err(), registry.ErrDenied)
	_, err = r.View(t.Context(), "/")
	require.ErrorIs(t, err, registry.ErrDenied)
	_, err = root.RoleGrantPermission(t.Context(), "ours", "/ours/", "/ours0", clientv3.PermissionType(clientv3.PermReadWrite))
	require.NoError(t, err)
	_, err = r.View(t.Context(), "/")
	require.NoError(t, err)
}
