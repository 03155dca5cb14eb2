package careless_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/careless"
	"github.com/elasticron/elasticron/internal/jobtree"
)

// Every kind of node that processes read is harmed in every way, at a path that is its own.
func TestDeedsReachEveryKind(t *testing.T) {
	t.Parallel()
	done := make(map[jobtree.Kind]map[careless.Act]bool)
	for _, d := range careless.Deeds("orders", "10.0.0.1@-@a", 2) {
		name, ok := jobtree.Parse(d.Path)
		require.True(t, ok, d.Path)
		require.Equal(t, d.Kind, name.Kind, d.Path)
		if done[d.Kind] == nil {
			done[d.Kind] = make(map[careless.Act]bool)
		}
		done[d.Kind][d.Act] = true
	}
	require.Len(t, done, len(jobtree.Kinds())-1)
	require.NotContains(t, done, jobtree.KindMove)
	for kind, acts := range done {
		require.Len(t, acts, len(careless.Acts), "kind %d", kind)
	}
}
