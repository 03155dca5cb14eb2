package etcd_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/internal/standstill"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// sharedServer returns the server of all tests that neither stop nor fill one.
func sharedServer(tb testing.TB) *etcdserver.Server {
	tb.Helper()
	server, err := shared()
	require.NoError(tb, err)
	return server
}

// open returns a handle on a namespace named after the test.
func open(tb testing.TB, endpoints []string, change ...func(*etcd.Config)) *etcd.Registry {
	tb.Helper()
	config := etcd.Config{Endpoints: endpoints, DialTimeout: time.Minute, SessionTTL: steadyTTL, Namespace: namespaceOf(tb)}
	for _, f := range change {
		f(&config)
	}
	r, err := etcd.Open(tb.Context(), config)
	require.NoError(tb, err)
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = r.Close(ctx)
	})
	return r
}

// namespaces are those of the tests that run, by their testing.TB. Each run of a test has one of its
// own, as the servers outlive it.
var (
	namespaces sync.Map
	runs       atomic.Int64
)

func namespaceOf(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("%s-%d", strings.ToLower(strings.ReplaceAll(tb.Name(), "/", "-")), runs.Add(1))
	known, loaded := namespaces.LoadOrStore(tb, name)
	if !loaded {
		tb.Cleanup(func() { namespaces.Delete(tb) })
	}
	return known.(string)
}

func adminOf(tb testing.TB, server *etcdserver.Server) *clientv3.Client {
	tb.Helper()
	return connect(tb, []*etcdserver.Server{server})
}

// despiteStalls tells a story about a server that fails if that, or this process, stands still for slack. It is told again if it
// failed and one of them did.
func despiteStalls(t *testing.T, server *etcdserver.Server, slack time.Duration, story func() error) {
	t.Helper()
	bystander := adminOf(t, server)
	standstill.RetryBeside(t, slack, func() { _, _ = bystander.Get(t.Context(), "bystander") }, story)
}

func session(tb testing.TB, r registry.Sessioner) *registry.Session {
	tb.Helper()
	s, err := r.Session(tb.Context())
	require.NoError(tb, err)
	return s
}

func put(tb testing.TB, r registry.Committer, path, value string) registry.Revision {
	tb.Helper()
	revision, err := r.Commit(tb.Context(), registry.Txn{Then: []registry.Write{registry.Put(path, value)}, Repeat: registry.RepeatHarmless})
	require.NoError(tb, err)
	return revision
}

// within returns a context for what must happen soon.
func within(tb testing.TB, d time.Duration) context.Context {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), d)
	tb.Cleanup(cancel)
	return ctx
}

// counter counts what a handle sends.
type counter struct{ commits, keepAliveStreams, watchStreams atomic.Int64 }

// on is a change of a config that has the counter count. A request gets so much time that none is
// repeated, however busy the machine is.
func (n *counter) on(config *etcd.Config) {
	config.RequestTimeout = steadyTTL / 2
	config.DialOptions = append(config.DialOptions,
		grpc.WithChainUnaryInterceptor(n.unary), grpc.WithChainStreamInterceptor(n.stream))
}

func (n *counter) unary(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if writes(req) {
		n.commits.Add(1)
	}
	return invoke(ctx, method, req, reply, conn, opts...)
}

func (n *counter) stream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, open grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
	switch {
	case strings.HasSuffix(method, "LeaseKeepAlive"):
		n.keepAliveStreams.Add(1)
	case strings.HasSuffix(method, "Watch"):
		n.watchStreams.Add(1)
	}
	return open(ctx, desc, conn, method, opts...)
}

// wire is the network between a handle and a server, and may be broken.
type wire struct{ *proxy.Proxy }

// newProxy starts a proxy to an endpoint and returns it.
func newProxy(tb testing.TB, endpoint string) *wire {
	tb.Helper()
	target, err := url.Parse(endpoint)
	require.NoError(tb, err)
	return &wire{proxy.Start(tb, target.Host)}
}

func (w *wire) endpoint() string { return "http://" + w.Address() }
