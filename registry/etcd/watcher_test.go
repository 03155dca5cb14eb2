package etcd_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.etcd.io/etcd/client/v3/namespace"

	"github.com/elasticron/elasticron/registry/etcd"
)

// A client whose owner has put other parts into it is used with these: what is read and what is watched have the same keys.
func TestAClientThatChangesKeys(t *testing.T) {
	t.Parallel()
	client := adminOf(t, sharedServer(t))
	client.KV, client.Watcher = namespace.NewKV(client.KV, "/wrapped"), namespace.NewWatcher(client.Watcher, "/wrapped")
	open := func() *etcd.Registry {
		r, err := etcd.New(client, etcd.Config{Namespace: "changed/keys"})
		require.NoError(t, err)
		return r
	}
	r := open()
	v := view(t, r, "/job")
	put(t, r, "/job/a", "1")
	waitValue(t, v, "/job/a", "1")
	require.NoError(t, r.Close(context.Background()))

	other := open() // the client's watcher is not closed with a handle
	v = view(t, other, "/job")
	put(t, other, "/job/a", "2")
	waitValue(t, v, "/job/a", "2")
	require.NoError(t, other.Close(context.Background()))
	bare := adminOf(t, sharedServer(t))
	kept, err := bare.Get(t.Context(), "/wrapped/changed/keys/job/a")
	require.NoError(t, err)
	require.Len(t, kept.Kvs, 1)
}
