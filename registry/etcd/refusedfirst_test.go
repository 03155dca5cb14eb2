package etcd_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// never is a transaction whose conditions cannot all hold.
func never(path string) registry.Txn {
	return registry.Txn{
		If:   []registry.Condition{registry.Absent(path), registry.Present(path)},
		Then: []registry.Write{registry.Put(path, "")}, Repeat: registry.RepeatHarmless,
	}
}

// Who may not write, or meets a full store, hears of that and not of a condition that does not hold. So federation/home can ask
// whether it could write, without doing so.
func TestARefusalComesBeforeAConflict(t *testing.T) {
	t.Parallel()
	t.Run("denied", func(t *testing.T) {
		t.Parallel()
		server := startServer(t)
		enableAuth(t, adminOf(t, server))
		root, err := clientv3.New(clientv3.Config{Endpoints: server.Endpoints(), Username: "root", Password: "root", Logger: zap.NewNop()})
		require.NoError(t, err)
		defer func() { _ = root.Close() }()
		r, err := etcd.Open(t.Context(), etcd.Config{Endpoints: server.Endpoints(), Namespace: "ours", Username: "me", Password: "secret", DialTimeout: time.Minute})
		require.NoError(t, err)
		defer func() { require.NoError(t, r.Close(t.Context())) }()
		put(t, r, "/there", "1")
		for _, path := range []string{"/there", "/absent"} {
			_, err = r.Commit(t.Context(), never(path))
			require.ErrorIs(t, err, registry.ErrConflict)
		}
		_, err = root.RoleGrantPermission(t.Context(), "ours", "/ours/", "/ours0", clientv3.PermissionType(clientv3.PermRead))
		require.NoError(t, err)
		for _, path := range []string{"/there", "/absent"} {
			_, err = r.Commit(t.Context(), never(path))
			require.ErrorIs(t, err, registry.ErrDenied)
		}
	})
	t.Run("full", func(t *testing.T) {
		t.Parallel()
		server := startServer(t, etcdserver.WithQuota(fullQuota))
		r := open(t, server.Endpoints())
		put(t, r, "/there", "1")
		fill(t, adminOf(t, server))
		for _, path := range []string{"/there", "/absent"} {
			_, err := r.Commit(t.Context(), never(path))
			require.ErrorIs(t, err, registry.ErrNoSpace)
		}
	})
}
