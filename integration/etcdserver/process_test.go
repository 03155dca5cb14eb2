package etcdserver

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver/internal/wire"
)

// A process that ends by itself, as by a panic, is not taken for one that was closed.
func TestAProcessThatEndedIsReported(t *testing.T) {
	t.Parallel()
	server, err := Start(t.Context(), WithFastTest())
	require.NoError(t, err)
	require.NoError(t, server.process.Kill())
	require.ErrorContains(t, server.Restart(t.Context()), "is gone")
	require.ErrorContains(t, server.Close(), "ended by itself: signal: killed")
}

// The process ends with its standard input, even while it does something.
func TestTheProcessEndsWithItsStandardInput(t *testing.T) {
	t.Parallel()
	cluster, err := StartCluster(t.Context(), 2, WithFastTest())
	require.NoError(t, err)
	p := cluster.process
	defer func() { _ = cluster.Close() }()
	p.order(wire.Kill, 0)
	asked := make(chan error, 1)
	go func() { _, err := cluster.Leader(t.Context()); asked <- err }() // there is none
	require.NoError(t, p.client.Close())
	<-p.Gone()
	require.Error(t, <-asked)
}

func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	server, err := Start(t.Context(), WithFastTest())
	require.NoError(t, err)
	left, err := filepath.Glob(filepath.Join(server.process.folder, "elasticron-etcd-*"))
	require.NoError(t, err)
	require.Len(t, left, 1, "the data lie in the folder of the process")
	require.NoError(t, server.Close())
	require.NoDirExists(t, server.process.folder)
}
