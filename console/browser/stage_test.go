package browser

import (
	"context"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console"
	"github.com/elasticron/elasticron/console/access"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

// stage is the real server over a real registry, with real instances.
type stage struct {
	url    string
	server *embedded.Server
}

const password = "correct horse battery staple"

// newStage starts the server and lets in anna, who may do everything, vera, who may look, and otto, who may look at orders.
func newStage(t *testing.T) *stage {
	t.Helper()
	server, err := embedded.Start(t.Context(), embedded.WithFastTest())
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	reg, err := etcd.Open(t.Context(), etcd.Config{Endpoints: server.Endpoints(), Namespace: "shop", DialTimeout: patience})
	require.NoError(t, err)
	t.Cleanup(func() { _ = reg.Close(context.WithoutCancel(t.Context())) })

	hash, err := access.HashPassword(password)
	require.NoError(t, err)
	users := filepath.Join(t.TempDir(), "users.yaml")
	require.NoError(t, os.WriteFile(users, []byte("users:\n"+
		"  anna: {password: '"+hash+"', grants: [{role: admin, namespace: '*'}]}\n"+
		"  vera: {password: '"+hash+"', grants: [{role: viewer, namespace: shop}]}\n"+
		"  otto: {password: '"+hash+"', grants: [{role: viewer, namespace: shop, jobs: 'orders-*'}]}\n"), 0o600))
	c, err := console.New(t.Context(), console.Config{
		Namespaces: []console.Namespace{{Name: "shop", Registry: reg}},
		Access:     access.Config{UsersFile: users},
	})
	require.NoError(t, err)
	t.Cleanup(c.Close)
	https := httptest.NewTLSServer(c.Handler()) // browsers keep the cookie of the session on HTTPS only
	t.Cleanup(func() { c.Close(); https.CloseClientConnections(); https.Close() })
	return &stage{url: https.URL, server: server}
}

func (s *stage) shop(page string) string { return s.url + "/ns/shop/" + page }

// logIn opens a page as somebody who has to say who they are first.
func (s *stage) logIn(t *tab, who, page string) {
	t.tb.Helper()
	t.open(s.shop(page))
	t.types(`input[name="name"]`, who)
	t.types(`input[name="password"]`, password)
	t.click("button", "Log in")
	t.sees(".who", who)
}
