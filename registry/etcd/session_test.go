package etcd_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

func shortSession(c *etcd.Config) { c.SessionTTL = time.Second }

// TestServerGrantsALongerTTL has a server with etcd's default heartbeat, which grants 2 s at least.
func TestServerGrantsALongerTTL(t *testing.T) {
	t.Parallel()
	server := startServer(t, etcdserver.WithHeartbeat(100*time.Millisecond, time.Second))
	r := open(t, server.Endpoints(), shortSession)
	require.Equal(t, 2*time.Second, session(t, r).TTL())
}

// TestSessionIsOneLease counts leases and keep-alive streams of a handle that does everything.
func TestSessionIsOneLease(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	admin := adminOf(t, server)
	var sent counter
	r := open(t, server.Endpoints(), sent.on, func(c *etcd.Config) { c.SessionTTL = 12 * time.Second })
	view(t, r, "/")
	leases, err := admin.Leases(t.Context())
	require.NoError(t, err)
	require.Empty(t, leases.Leases, "a handle that only looks needs no lease")

	s := session(t, r)
	for range 3 {
		require.NoError(t, r.Latch(t.Context(), "/latch", func(context.Context) error { return nil }))
	}
	time.Sleep(5 * time.Second) // what is looked for is what happens as time passes
	require.Eventually(t, func() bool { return sent.keepAliveStreams.Load() == 1 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, s.Err())
	leases, err = admin.Leases(t.Context())
	require.NoError(t, err)
	require.Len(t, leases.Leases, 1)
	require.Equal(t, clientv3.LeaseID(s.ID()), leases.Leases[0].ID)

	require.NoError(t, r.Close(t.Context()))
	leases, err = admin.Leases(t.Context())
	require.NoError(t, err)
	require.Empty(t, leases.Leases)
}

// TestCloseEndsAnAbandonedSession: nothing is done under it any more, so nobody needs to wait for its end.
func TestCloseEndsAnAbandonedSession(t *testing.T) {
	t.Parallel()
	server := startServer(t)
	admin := adminOf(t, server)
	r := open(t, server.Endpoints(), func(c *etcd.Config) { c.SessionTTL = time.Minute })
	old := session(t, r)
	old.Abandon(errors.New("not needed"))
	require.NotEqual(t, old.ID(), session(t, r).ID())
	require.NoError(t, r.Close(t.Context()))
	leases, err := admin.Leases(t.Context())
	require.NoError(t, err)
	require.Empty(t, leases.Leases)
}

// TestLostLeaseIsNoticedByACommit has the store drop the session long before the next keep-alive.
func TestLostLeaseIsNoticedByACommit(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	admin := adminOf(t, server)
	r := open(t, server.Endpoints(), func(c *etcd.Config) { c.SessionTTL = time.Minute })
	old := session(t, r)
	expire(t, r, admin)
	_, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/a", "", old)}, Repeat: registry.RepeatOwned})
	require.ErrorIs(t, err, registry.ErrSessionLost)
	require.ErrorIs(t, old.Err(), registry.ErrSessionLost)
	successor, err := r.Session(within(t, time.Minute))
	require.NoError(t, err)
	require.NotEqual(t, old.ID(), successor.ID())
	_, err = r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/a", "", successor)}, Repeat: registry.RepeatOwned})
	require.NoError(t, err)
}

// TestLatchOfALostLease: etcd's own session on a dead lease reports no error for a while.
func TestLatchOfALostLease(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	admin := adminOf(t, server)
	r := open(t, server.Endpoints(), func(c *etcd.Config) { c.SessionTTL = time.Minute })
	session(t, r)
	expire(t, r, admin)
	err := r.Latch(within(t, time.Minute), "/latch", func(context.Context) error { panic("nobody holds it") })
	require.ErrorIs(t, err, registry.ErrSessionLost)
	ran := false
	require.NoError(t, r.Latch(t.Context(), "/latch", func(context.Context) error { ran = true; return nil }))
	require.True(t, ran, "the next session can")
}

// TestGhostInTheLine has a session end while it waits for a latch, and come back on the same lease.
// What it left in the line must not hold up the others for as long as the lease lives.
func TestGhostInTheLine(t *testing.T) {
	t.Parallel()
	server := sharedServer(t)
	admin := adminOf(t, server)
	holder := open(t, server.Endpoints())
	wire := newProxy(t, server.Endpoints()[0])
	waiter := open(t, []string{wire.endpoint()}, func(c *etcd.Config) { c.SessionTTL = testTTL })
	first := session(t, waiter)
	letGo, held := make(chan struct{}), make(chan error, 1)
	inside := make(chan struct{})
	go func() {
		held <- holder.Latch(t.Context(), "/latch", func(ctx context.Context) error {
			close(inside)
			select {
			case <-letGo:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	<-inside
	waited := make(chan error, 1)
	go func() { waited <- waiter.Latch(t.Context(), "/latch", func(context.Context) error { return nil }) }()
	contenders := func() int64 {
		got, err := admin.Get(t.Context(), "/"+namespaceOf(t)+"/latch/", clientv3.WithPrefix(), clientv3.WithCountOnly())
		require.NoError(t, err)
		return got.Count
	}
	require.Eventually(t, func() bool { return contenders() == 2 }, time.Minute, 10*time.Millisecond)

	back := keepAlive(t, admin, first) // as if the cut had been shorter
	wire.Cut()
	<-first.Done()
	require.ErrorIs(t, <-waited, registry.ErrSessionLost)
	wire.Heal()
	second := session(t, waiter)
	back()
	require.Equal(t, first.ID(), second.ID())
	require.Eventually(t, func() bool { return contenders() == 1 }, time.Minute, 10*time.Millisecond)
	close(letGo)
	require.NoError(t, <-held)
}

// keepAlive keeps the lease of a session alive on behalf of its process, until it is told to stop.
func keepAlive(t *testing.T, admin *clientv3.Client, s *registry.Session) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := admin.KeepAliveOnce(ctx, clientv3.LeaseID(s.ID()))
	require.NoError(t, err)
	var keeping sync.WaitGroup
	keeping.Go(func() {
		for ctx.Err() == nil {
			_, _ = admin.KeepAliveOnce(ctx, clientv3.LeaseID(s.ID()))
			time.Sleep(s.TTL() / 10)
		}
	})
	stop = func() { cancel(); keeping.Wait() }
	t.Cleanup(stop)
	return stop
}
