package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Two contexts name one store. Nobody is told to remove from one what is the only copy.
func TestTwoContextsOfOneStoreAreNamed(t *testing.T) {
	t.Parallel()
	w := severalWorld(t)
	w.must(t, "context", "set", "of-three", "--etcd", "http://etcd", "--namespace", "one")
	_, errOut, status := w.does(t, "get", "jobs")
	require.Equal(t, exitFailed, status)
	require.Contains(t, errOut, `job "orders" is the same in the registries one and three, which are one store: remove it from neither`)
	require.NotContains(t, errOut, "all but one")
}
