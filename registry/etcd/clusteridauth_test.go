package etcd_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// A member that was set up afresh demands no login, and says so. Who begins with it goes by the others all the same.
func TestOpenWithALoginGoesByMostEndpoints(t *testing.T) {
	t.Parallel()
	ours, fresh := startServer(t), startServer(t)
	enableAuth(t, adminOf(t, ours))
	endpoints := []string{newAddress(t, fresh).endpoint(), newAddress(t, ours).endpoint(), newAddress(t, ours).endpoint()}
	for range 12 {
		r := open(t, endpoints, func(c *etcd.Config) {
			c.Namespace, c.Username, c.Password, c.Logger = "ours", "me", "secret", slog.New(slog.DiscardHandler)
		})
		for range 4 {
			put(t, r, "/a", "1")
		}
		require.NoError(t, r.Close(t.Context()))
	}
	theirs := open(t, fresh.Endpoints(), func(c *etcd.Config) { c.Namespace = "ours" })
	_, err := theirs.Get(t.Context(), "/a")
	require.ErrorIs(t, err, registry.ErrNotFound)
}

// Who has yet to log in is refused. That is no reason to wait as long as an endpoint is away.
func TestOpenWithALoginWhileAnEndpointIsAway(t *testing.T) {
	t.Parallel()
	ours := startServer(t)
	enableAuth(t, adminOf(t, ours))
	away := newAddress(t, ours)
	require.NoError(t, away.Close())
	endpoints := []string{away.endpoint(), newAddress(t, ours).endpoint(), newAddress(t, ours).endpoint()}
	fastest := time.Hour // the machine may be busy
	for range 5 {
		began := time.Now()
		r := open(t, endpoints, func(c *etcd.Config) { c.Namespace, c.Username, c.Password = "ours", "me", "secret" })
		fastest = min(fastest, time.Since(began))
		require.NoError(t, r.Close(t.Context()))
	}
	require.Less(t, fastest, time.Second)
}

// asMe logs in as the user of enableAuth.
func asMe(log slog.Handler) func(*etcd.Config) {
	return func(c *etcd.Config) {
		c.Namespace, c.Username, c.Password, c.SessionTTL, c.Logger = "ours", "me", "secret", 20*time.Second, slog.New(log)
	}
}

// withAnotherPassword starts a server that knows the user of enableAuth by another password.
func withAnotherPassword(t *testing.T) *etcdserver.Server {
	t.Helper()
	server := startServer(t)
	enableAuth(t, adminOf(t, server))
	root, err := clientv3.New(clientv3.Config{Endpoints: server.Endpoints(), Username: "root", Password: "root", Logger: zap.NewNop()})
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	_, err = root.UserChangePassword(t.Context(), "me", "another")
	require.NoError(t, err)
	return server
}

// waitPassedOver writes until the log has named the endpoint as one of another cluster.
func waitPassedOver(t *testing.T, r *etcd.Registry, log told, foreign *address) {
	t.Helper()
	var told []slog.Record
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, err := r.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/a", "")}})
		assert.NoError(c, err)
		told = append(told, errorsIn(log)...)
		assert.NotEmpty(c, told)
	}, time.Minute, time.Millisecond)
	require.Len(t, told, 1)
	require.Equal(t, passedOver, told[0].Message)
	require.Equal(t, foreign.Addr().String(), attributesOf(told[0])["endpoint"])
}

// A member of another cluster that has other users refuses the login, and names no cluster by that. Who begins with it goes by the
// others all the same, and the log names it.
func TestOpenWithALoginThatAForeignMemberRefuses(t *testing.T) {
	t.Parallel()
	ours, other := startServer(t), withAnotherPassword(t)
	enableAuth(t, adminOf(t, ours))
	foreign := newAddress(t, other)
	endpoints := []string{foreign.endpoint(), newAddress(t, ours).endpoint(), newAddress(t, ours).endpoint()}
	for range 12 {
		log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 1024)}
		r := open(t, endpoints, asMe(log))
		waitPassedOver(t, r, log, foreign)
		require.NoError(t, r.Close(t.Context()))
	}
}

// Where all members refuse the login, that is what Open says, and it does not try until its time is up.
func TestOpenWithALoginThatAllMembersRefuse(t *testing.T) {
	t.Parallel()
	ours := startServer(t)
	enableAuth(t, adminOf(t, ours))
	endpoints := []string{newAddress(t, ours).endpoint(), newAddress(t, ours).endpoint(), newAddress(t, ours).endpoint()}
	fastest := time.Hour // the machine may be busy
	for range 5 {
		began := time.Now()
		_, err := etcd.Open(t.Context(), etcd.Config{
			Endpoints: endpoints, Namespace: "ours", Username: "me", Password: "wrong", DialTimeout: time.Minute,
		})
		require.ErrorIs(t, err, registry.ErrDenied)
		require.ErrorContains(t, err, "authentication failed")
		fastest = min(fastest, time.Since(began))
	}
	require.Less(t, fastest, time.Second)
}

// Nor does a running process take the refusals of such a member for those of its own cluster: views and sessions go on.
func TestAForeignMemberRefusesTheLoginOfARunningProcess(t *testing.T) {
	t.Parallel()
	ours, other := startServer(t), withAnotherPassword(t)
	enableAuth(t, adminOf(t, ours))
	var endpoints []string
	var members []*address
	for range 3 {
		members = append(members, newAddress(t, ours))
		endpoints = append(endpoints, members[len(members)-1].endpoint())
	}
	log := told{Handler: slog.DiscardHandler, records: make(chan slog.Record, 1024)}
	r := open(t, endpoints, asMe(log))
	v := view(t, r, "/")
	s := session(t, r)
	for round, member := range members {
		member.leadTo(t, other)
		for range 5 { // nobody knows of any of them by then
			for _, m := range members {
				m.breakAll()
			}
			_, _ = r.Get(t.Context(), "/a")
		}
		waitPassedOver(t, r, log, member)
		value := string(rune('a' + round))
		put(t, r, "/b", value)
		waitValue(t, v, "/b", value)
		require.NoError(t, v.Err())
		member.leadTo(t, ours)
	}
	require.NoError(t, s.Err())
	require.Empty(t, errorsIn(log))
}
