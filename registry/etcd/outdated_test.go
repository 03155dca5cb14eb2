package etcd_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// etcd judges a watch by the token that its stream was opened with, which it may have forgotten since, or by that there was
// none. A view that begins then is told what happens all the same, and those that are there already go on.
func TestAViewThatBeginsAfterTheTokenOfTheStream(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after func(t *testing.T, server *etcdserver.Server)
	}{
		"is forgotten": {
			before: func(t *testing.T, server *etcdserver.Server) { t.Helper(); enableAuth(t, adminOf(t, server)) },
			after:  forgetTokens,
		},
		"is needed": {
			before: func(*testing.T, *etcdserver.Server) {},
			after:  func(t *testing.T, server *etcdserver.Server) { t.Helper(); enableAuth(t, adminOf(t, server)) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t)
			test.before(t, server)
			openOurs := func() *etcd.Registry {
				r, err := etcd.Open(t.Context(), etcd.Config{
					Endpoints: server.Endpoints(), Namespace: "ours", Username: "me", Password: "secret", DialTimeout: time.Minute,
				})
				require.NoError(t, err)
				t.Cleanup(func() { require.NoError(t, r.Close(context.Background())) })
				return r
			}
			r, other := openOurs(), openOurs()
			old := view(t, r, "/a")
			put(t, other, "/a/x", "1")
			waitValue(t, old, "/a/x", "1")

			test.after(t, server)
			parts, err := r.ViewParts(t.Context(), "/d", []registry.Part{{Folder: "/d/items", Only: []string{"1"}}})
			require.NoError(t, err)
			for _, v := range []*registry.View{view(t, r, "/b"), view(t, r, "/c"), parts, old} {
				put(t, other, v.Path()+"/x", "2")
				waitValue(t, v, v.Path()+"/x", "2")
			}
		})
	}
}

// forgetTokens has the server forget the tokens of our user, as it does of itself after five minutes.
func forgetTokens(t *testing.T, server *etcdserver.Server) {
	t.Helper()
	root, err := clientv3.New(clientv3.Config{Endpoints: server.Endpoints(), Username: "root", Password: "root", Logger: zap.NewNop()})
	require.NoError(t, err)
	defer func() { _ = root.Close() }()
	_, err = root.UserChangePassword(t.Context(), "me", "secret")
	require.NoError(t, err)
}
