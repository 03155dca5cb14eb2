package etcd

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	ns := newNamespace("acme/prod")
	require.Equal(t, "/acme/prod/job/config", ns.key("/job/config"))
	start, end := ns.below("/job")
	require.Equal(t, []string{"/acme/prod/job/", "/acme/prod/job0"}, []string{start, end})
	start, end = ns.below("/")
	require.Equal(t, []string{"/acme/prod/", "/acme/prod0"}, []string{start, end})
	start, end = ns.around("/job")
	require.Equal(t, []string{"/acme/prod/job", "/acme/prod/job0"}, []string{start, end})
	start, end = ns.around("/")
	require.Equal(t, []string{"/acme/prod/", "/acme/prod0"}, []string{start, end})
}

func TestForeignKeysAreNoNodes(t *testing.T) {
	t.Parallel()
	ns := newNamespace("prod")
	for _, key := range []string{"/prod", "/prod/", "/prod//a", "/prod/a/", "/production/a", "/other/a", "prod/a", "/prod/a\x00"} {
		_, ok := ns.node(&mvccpb.KeyValue{Key: []byte(key)})
		require.False(t, ok, key)
	}
	node, ok := ns.node(&mvccpb.KeyValue{Key: []byte("/prod/a"), Value: []byte("1"), CreateRevision: 2, ModRevision: 3, Lease: 4})
	require.True(t, ok)
	require.Equal(t, `/a="1"@3 (created 2, session 4)`, node.String())
}
