package etcd_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/registrytest"
)

// clusterConfig is more patient than that of a single server: three members share the processors with
// the test, and what is missed here is taken for an outage.
var clusterConfig = etcd.Config{SessionTTL: 8 * time.Second, RequestTimeout: 3 * time.Second, DialTimeout: time.Minute}

// clusterOptions have slower elections than a single server: a member that is late on a busy
// machine should not lose the leadership.
func clusterOptions() []etcdserver.Option {
	return []etcdserver.Option{etcdserver.WithFastTest(), etcdserver.WithHeartbeat(100*time.Millisecond, time.Second)}
}

func startCluster(tb testing.TB) *etcdserver.Cluster {
	tb.Helper()
	cluster, err := etcdserver.StartCluster(tb.Context(), 3, clusterOptions()...)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, cluster.Close()) })
	return cluster
}

// TestConformanceOnACluster runs the suite on three members. What befalls all members at once is
// left to the single server, where it is the same and takes a third of the time; what befalls one of
// them is below.
func TestConformanceOnACluster(t *testing.T) {
	t.Parallel()
	onCluster := description()
	for _, fault := range []registrytest.Ability{registrytest.Restart, registrytest.Compact, registrytest.Full} {
		onCluster.Lacks[fault] = "it befalls all members at once, and is tried on one"
	}
	onCluster.Start = func(tb testing.TB, needs []registrytest.Ability) *registrytest.Store {
		tb.Helper()
		cluster, err := sharedCluster()
		require.NoError(tb, err)
		return newStore(tb, cluster.Members(), cluster.Restart, clusterConfig, needs)
	}
	registrytest.Run(t, onCluster)
}

// TestLeaderKilledUnderLoad kills the leader of a cluster twice while many commit. No commit is lost
// or done twice, the session and the views go on, and commits are answered again soon.
func TestLeaderKilledUnderLoad(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	patient := func(c *etcd.Config) { c.SessionTTL = 3 * time.Minute }
	r, other := open(t, cluster.Endpoints(), patient), open(t, cluster.Endpoints())
	s, v := session(t, r), view(t, other, "/")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var load sync.WaitGroup
	counts := make([]counting, 4)
	for i := range counts {
		load.Go(func() { counts[i].run(ctx, r, fmt.Sprintf("/counter/%d", i)) })
	}

	for range 2 {
		waitForProgress(t, counts)
		leader, err := cluster.Leader(t.Context())
		require.NoError(t, err)
		leader.Kill()
		begin := time.Now()
		waitForProgress(t, counts)
		t.Logf("all had committed again %s after the leader was killed", time.Since(begin))
		require.Less(t, time.Since(begin), 2*time.Minute)
		require.NoError(t, leader.Restart(t.Context()))
	}
	waitForProgress(t, counts)
	stop()
	load.Wait()

	require.NoError(t, s.Err(), "a session outlives the leader")
	for i := range counts {
		require.NoError(t, counts[i].fault)
		path := fmt.Sprintf("/counter/%d", i)
		var n registry.Node
		require.Eventually(t, func() bool { // the last one, given up, may be done after the read
			var err error
			if n, err = r.Get(t.Context(), path); err == nil {
				err = v.WaitRevision(t.Context(), n.Revision)
			}
			return err == nil && v.Snapshot().Get(path) == n
		}, time.Minute, 50*time.Millisecond)
		done, err := strconv.Atoi(n.Value)
		require.NoError(t, err)
		require.GreaterOrEqual(t, int64(done), counts[i].done.Load())
		require.LessOrEqual(t, int64(done), counts[i].done.Load()+1, "only the last may have been given up unknown")
	}
}

// counting counts a node up, each time guarded by the time before.
type counting struct {
	done  atomic.Int64
	fault error
}

func (c *counting) run(ctx context.Context, r registry.Committer, path string) {
	var last registry.Revision
	for ctx.Err() == nil {
		revision, err := r.Commit(ctx, registry.Txn{
			If:   []registry.Condition{registry.Unchanged(path, last)},
			Then: []registry.Write{registry.Put(path, strconv.FormatInt(c.done.Load()+1, 10))},
		})
		switch {
		case err == nil:
			last = revision
			c.done.Add(1)
			time.Sleep(5 * time.Millisecond) // leave the members some of the processor
		case ctx.Err() == nil || !errors.Is(err, registry.ErrUnknownOutcome) && !errors.Is(err, registry.ErrUnavailable):
			c.fault = err // nobody else writes here: every answer must be a yes
			return
		}
	}
}

// waitForProgress waits until each has counted on by a few.
func waitForProgress(t *testing.T, counts []counting) {
	t.Helper()
	for i := range counts {
		from := counts[i].done.Load()
		require.Eventually(t, func() bool { return counts[i].done.Load() > from+5 }, 2*time.Minute, 5*time.Millisecond)
	}
}

// TestMinorityIsNoStore leaves one member of three. Nothing can be committed, and nothing is said to
// be; a view says nothing new. When the others are back, all goes on.
func TestMinorityIsNoStore(t *testing.T) {
	t.Parallel()
	cluster := startCluster(t)
	r := open(t, cluster.Endpoints())
	v := view(t, r, "/")
	put(t, r, "/a", "1")
	members := cluster.Members()
	members[0].Kill()
	members[1].Kill()
	write := registry.Txn{Then: []registry.Write{registry.Put("/a", "2")}}
	_, err := r.Commit(within(t, time.Second), write)
	require.Error(t, err)
	require.True(t, errors.Is(err, registry.ErrUnknownOutcome) || errors.Is(err, registry.ErrUnavailable), err)
	_, err = r.Get(within(t, time.Second), "/a")
	require.ErrorIs(t, err, registry.ErrUnavailable)

	require.NoError(t, cluster.Restart(t.Context()))
	put(t, r, "/a", "3")
	waitValue(t, v, "/a", "3")
}
