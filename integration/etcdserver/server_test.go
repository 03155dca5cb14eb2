package etcdserver_test

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"github.com/elasticron/elasticron/integration/etcdserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheProgramIsBuiltWithoutTheRaceDetector(t *testing.T) {
	t.Parallel()
	command, err := etcdserver.MemberCommand(etcdserver.Member{})
	require.NoError(t, err)
	info, err := buildinfo.ReadFile(command.Path)
	require.NoError(t, err)
	for _, s := range info.Settings {
		require.NotEqual(t, "-race", s.Key)
	}
}

func TestTheProgramSaysWhoStartsIt(t *testing.T) {
	t.Parallel()
	command, err := etcdserver.MemberCommand(etcdserver.Member{})
	require.NoError(t, err)
	for said, args := range map[string][]string{
		"tests start this program": nil, "no role": {"x", "{}"}, "read the settings": {"cluster", "x"},
	} {
		var out bytes.Buffer
		cmd := exec.CommandContext(t.Context(), command.Path, args...)
		cmd.Stderr = &out
		require.Error(t, cmd.Run())
		require.Contains(t, out.String(), said)
	}
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

func TestAStoppedServerDoesNotServe(t *testing.T) {
	t.Parallel()
	for _, stop := range []func(*etcdserver.Server){(*etcdserver.Server).Stop, (*etcdserver.Server).Kill} {
		server := start(t)
		client := connect(t, server.Endpoints())
		_, err := client.Put(t.Context(), "/a", "1")
		require.NoError(t, err)
		stop(server)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err = client.Get(ctx, "/a")
		cancel()
		require.Error(t, err)
	}
}

func TestCloseTwice(t *testing.T) {
	t.Parallel()
	server := start(t)
	require.NoError(t, server.Close())
	require.NoError(t, server.Close())
	server.Stop()
	server.Kill()
	require.ErrorContains(t, server.Restart(t.Context()), "is gone")
}

func TestStartEndsWithItsContext(t *testing.T) {
	t.Parallel()
	start(t) // the program is built now
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := etcdserver.Start(ctx) // the default election takes longer
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestStartSaysWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	_, err := etcdserver.Start(t.Context(), etcdserver.WithQuota(-1))
	require.ErrorContains(t, err, "quota -1 is negative")
	_, err = etcdserver.StartCluster(t.Context(), 0)
	require.ErrorContains(t, err, "a cluster of 0 members")
}

func TestEveryOptionReachesTheServer(t *testing.T) {
	t.Parallel()
	for said, opt := range map[string]etcdserver.Option{
		"heartbeat 10ms and election 20ms": etcdserver.WithHeartbeat(10*time.Millisecond, 20*time.Millisecond),
		"retention 1ms":                    etcdserver.WithRetention(time.Millisecond),
		"at most -3 operations":            etcdserver.WithMaxTxnOps(-3),
		"TLS needs a certificate":          etcdserver.WithTLS("cert", "", ""),
	} {
		_, err := etcdserver.Start(t.Context(), opt)
		require.ErrorContains(t, err, said)
	}
	start(t, etcdserver.WithSeparateHTTP(), etcdserver.WithRetention(0))
}

func TestClusterOutlivesItsLeader(t *testing.T) {
	t.Parallel()
	// On a busy machine those of fast tests elect now and then, and then etcd drops what is asked of it.
	cluster, err := etcdserver.StartCluster(t.Context(), 3, etcdserver.WithFastTest(), etcdserver.WithHeartbeat(100*time.Millisecond, time.Second))
	require.NoError(t, err)
	defer func() { require.NoError(t, cluster.Close()) }()
	require.Len(t, cluster.Members(), 3)
	client := connect(t, cluster.Endpoints())
	_, err = client.Put(t.Context(), "/a", "1")
	require.NoError(t, err)

	for _, end := range []func(*etcdserver.Server){(*etcdserver.Server).Kill, (*etcdserver.Server).Stop} {
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

// A member that restarts without a majority waits for one, and the one that waits for a leader, too.
func TestACallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	cluster, err := etcdserver.StartCluster(t.Context(), 3, etcdserver.WithFastTest())
	require.NoError(t, err)
	defer func() { require.NoError(t, cluster.Close()) }()
	members := cluster.Members()
	for _, m := range members {
		m.Kill()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, members[0].Restart(ctx), context.DeadlineExceeded)
	_, err = cluster.Leader(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, cluster.Restart(t.Context()))
}

func start(t *testing.T, opts ...etcdserver.Option) *etcdserver.Server {
	t.Helper()
	server, err := etcdserver.Start(t.Context(), append([]etcdserver.Option{etcdserver.WithFastTest()}, opts...)...)
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
