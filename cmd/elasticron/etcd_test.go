package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
)

// newEtcd starts a server of the test's own and returns its URLs as flags have them.
func newEtcd(t *testing.T) string {
	t.Helper()
	server, err := etcdserver.Start(t.Context(), etcdserver.WithFastTest())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	return strings.Join(server.Endpoints(), ",")
}

// openEtcd returns a handle on a namespace of a server.
func openEtcd(t *testing.T, endpoints, namespace string) *etcd.Registry {
	t.Helper()
	reg, err := etcd.Open(t.Context(), etcd.Config{
		Endpoints: strings.Split(endpoints, ","), Namespace: namespace, SessionTTL: time.Minute, DialTimeout: time.Minute,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	return reg
}

// put writes nodes, given as pairs of path and value.
func put(t *testing.T, reg registry.Committer, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(pairs[i], pairs[i+1])}})
		require.NoError(t, err)
	}
}

// paths returns the paths of all nodes that a registry holds.
func paths(t *testing.T, reg registry.Reader) []string {
	t.Helper()
	nodes, _, err := reg.List(t.Context(), registry.Root)
	require.NoError(t, err)
	var all []string
	for _, n := range nodes {
		all = append(all, n.Path)
	}
	return all
}
