package embedded_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticron/elasticron/integration/ports"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

func TestStartReturnsWhenItIsReady(t *testing.T) {
	t.Parallel()
	server := start(t)
	_, err := connect(t, server.Endpoints()).Put(t.Context(), "/a", "1")
	require.NoError(t, err)
}

func TestCloseDoesNotWaitForClients(t *testing.T) {
	t.Parallel()
	server := start(t)
	client := connect(t, server.Endpoints())
	lease, err := client.Grant(t.Context(), 60)
	require.NoError(t, err)
	_, err = client.KeepAlive(t.Context(), lease.ID)
	require.NoError(t, err)
	created := client.Watch(t.Context(), "/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	require.True(t, (<-created).Created)

	begin := time.Now()
	require.NoError(t, server.Close())
	require.Less(t, time.Since(begin), 6*time.Second, "etcd left to itself takes 7 s")
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	server := start(t)
	require.True(t, server.Running())
	require.NoError(t, server.Close())
	require.NoError(t, server.Close())
	server.Stop()
	server.Kill()
	require.False(t, server.Running())
	require.ErrorIs(t, server.Restart(t.Context()), embedded.ErrClosed)
	require.NoDirExists(t, filepath.Dir(server.Dir()), "the temporary folder is removed")
}

func TestRestartKeepsDataAndAddress(t *testing.T) {
	t.Parallel()
	server := start(t)
	endpoints := server.Endpoints()
	for _, stop := range []func(){server.Stop, server.Kill, func() {}} {
		_, err := connect(t, endpoints).Put(t.Context(), "/a", "1")
		require.NoError(t, err)
		stop()
		require.NoError(t, server.Restart(t.Context()))
		require.Equal(t, endpoints, server.Endpoints())
		// Another client: the one that was cut off takes its time to connect again.
		got, err := connect(t, endpoints).Get(t.Context(), "/a")
		require.NoError(t, err)
		require.Len(t, got.Kvs, 1)
	}
}

// What starts and stops a server may be called at once: each has its turn, and after Close nothing runs.
func TestRestartsAtOnce(t *testing.T) {
	t.Parallel()
	server := start(t)
	restarts := make(chan error, 4)
	for range cap(restarts) {
		go func() { restarts <- server.Restart(t.Context()) }()
	}
	for range cap(restarts) {
		require.NoError(t, <-restarts)
	}
	require.True(t, server.Running())
	go func() { restarts <- server.Restart(t.Context()) }()
	require.NoError(t, server.Close())
	if err := <-restarts; err != nil {
		require.ErrorIs(t, err, embedded.ErrClosed)
	}
	require.False(t, server.Running())
	require.NoDirExists(t, server.Dir())
}

func TestGivenDirIsKept(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	server := start(t, embedded.WithDir(dir))
	_, err := connect(t, server.Endpoints()).Put(t.Context(), "/a", "1")
	require.NoError(t, err)
	require.NoError(t, server.Close())
	require.DirExists(t, dir)

	again := start(t, embedded.WithDir(dir))
	got, err := connect(t, again.Endpoints()).Get(t.Context(), "/a")
	require.NoError(t, err)
	require.Len(t, got.Kvs, 1)
}

// Whoever comes too late hears soon that the folder is used, and takes nothing away; once the other is gone, they start.
func TestAFolderThatIsUsed(t *testing.T) {
	t.Parallel()
	if !slices.Contains([]string{"linux", "darwin", "freebsd"}, runtime.GOOS) {
		t.Skip("only etcd's own lock is there")
	}
	dir := t.TempDir()
	server := start(t, embedded.WithDir(dir))
	_, err := connect(t, server.Endpoints()).Put(t.Context(), "/a", "1")
	require.NoError(t, err)
	began := time.Now()
	_, err = embedded.Start(t.Context(), embedded.WithFastTest(), embedded.WithDir(dir))
	require.ErrorIs(t, err, embedded.ErrInUse)
	require.ErrorContains(t, err, "start embedded etcd: the folder is used by another process: "+dir)
	require.Greater(t, time.Since(began), 2*time.Second, "the other may be about to end")

	soon, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = embedded.Start(soon, embedded.WithFastTest(), embedded.WithDir(dir))
	require.ErrorIs(t, err, embedded.ErrInUse)

	server.Kill()
	again := start(t, embedded.WithDir(dir))
	got, err := connect(t, again.Endpoints()).Get(t.Context(), "/a")
	require.NoError(t, err)
	require.Len(t, got.Kvs, 1)
	require.ErrorIs(t, server.Restart(t.Context()), embedded.ErrInUse)
}

func TestGivenAddress(t *testing.T) {
	t.Parallel()
	claimed, err := ports.Claim(1) // or somebody else might have it before the server does
	require.NoError(t, err)
	taken, err := net.Listen("tcp", "127.0.0.1:"+claimed[0])
	require.NoError(t, err)
	defer taken.Close()
	_, err = embedded.Start(t.Context(), embedded.WithFastTest(), embedded.WithAddress(taken.Addr().String()))
	require.ErrorContains(t, err, "address already in use")

	require.NoError(t, taken.Close())
	server := start(t, embedded.WithAddress(taken.Addr().String()))
	require.Equal(t, []string{"http://" + taken.Addr().String()}, server.Endpoints())
}

func TestStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := embedded.Start(ctx) // the default election takes longer
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	tests := map[string]embedded.Option{
		"folder":    embedded.WithDir(""),
		"address":   embedded.WithAddress("localhost"),
		"0.0.0.0":   embedded.WithAddress("0.0.0.0:2379"),
		`":2379"`:   embedded.WithAddress(":2379"),
		"[2001:":    embedded.WithAddress("[2001:db8::7]:2379"),
		"e1:2379":   embedded.WithAddress("e1:2379"),
		"heartbeat": embedded.WithHeartbeat(10*time.Millisecond, 20*time.Millisecond),
		"quota":     embedded.WithQuota(-1),
		"retention": embedded.WithRetention(time.Millisecond),
		"-3":        embedded.WithMaxTxnOps(-3),
		"TLS":       embedded.WithTLS("", "", ""),
		"logger":    embedded.WithLogger(nil),
	}
	for text, opt := range tests {
		_, err := embedded.Start(t.Context(), opt)
		require.ErrorIs(t, err, embedded.ErrInvalidOption)
		require.ErrorContains(t, err, text)
	}
	_, err := embedded.StartCluster(t.Context(), 0)
	require.ErrorIs(t, err, embedded.ErrInvalidOption)
	_, err = embedded.StartCluster(t.Context(), 3, embedded.WithAddress("127.0.0.1:2379"))
	require.ErrorIs(t, err, embedded.ErrInvalidOption)
}

func TestLoggerHearsTheServer(t *testing.T) {
	t.Parallel()
	var out written
	logger := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelInfo}))
	server := start(t, embedded.WithLogger(logger))
	require.NoError(t, server.Close())
	require.Contains(t, out.String(), "level=INFO msg=\"starting an etcd server\" etcd-version=")
}

func TestClusterOutlivesItsLeader(t *testing.T) {
	t.Parallel()
	// On a busy machine those of fast tests elect now and then, and then etcd drops what is asked of it.
	cluster, err := embedded.StartCluster(t.Context(), 3, embedded.WithFastTest(), embedded.WithHeartbeat(100*time.Millisecond, time.Second))
	require.NoError(t, err)
	defer func() { require.NoError(t, cluster.Close()) }()
	require.Len(t, cluster.Members(), 3)
	client := connect(t, cluster.Endpoints())
	_, err = client.Put(t.Context(), "/a", "1")
	require.NoError(t, err)

	for _, end := range []func(*embedded.Server){(*embedded.Server).Kill, (*embedded.Server).Stop} {
		leader, err := cluster.Leader(t.Context())
		require.NoError(t, err)
		end(leader)
		other, err := cluster.Leader(t.Context())
		require.NoError(t, err)
		require.NotSame(t, leader, other)
		require.NoError(t, cluster.Restart(t.Context()))
	}
	for _, m := range cluster.Members() {
		m.Kill()
	}
	require.NoError(t, cluster.Restart(t.Context()))
	got, err := connect(t, cluster.Endpoints()).Get(t.Context(), "/a")
	require.NoError(t, err)
	require.Len(t, got.Kvs, 1)
}

// written is a buffer to which a server may write while a test reads it.
type written struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *written) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(text)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func start(t *testing.T, opts ...embedded.Option) *embedded.Server {
	t.Helper()
	server, err := embedded.Start(t.Context(), append([]embedded.Option{embedded.WithFastTest()}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return server
}

func connect(t *testing.T, endpoints []string) *clientv3.Client {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: endpoints, Logger: zap.NewNop()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}
