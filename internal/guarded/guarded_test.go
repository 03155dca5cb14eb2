package guarded_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

func steps(kind string, n int) []guarded.Step {
	var all []guarded.Step
	for i := range n {
		path := fmt.Sprintf("/orders/%s/%d", kind, i)
		all = append(all, guarded.Step{Write: registry.Put(path, ""), Guard: registry.Absent(path)})
	}
	return all
}

func TestAllAtOnceOrLastTheLast(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ first, last, commits int }{
		{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {98, 2, 1}, {99, 2, 2}, {100, 2, 2}, {101, 2, 3}, {250, 2, 4}, {250, 0, 3},
	} {
		server := memory.NewServer()
		reg := server.Open("test")
		require.NoError(t, guarded.Commit(t.Context(), reg, steps("first", test.first), steps("last", test.last)))
		nodes, revision, err := reg.List(t.Context(), "/orders")
		require.NoError(t, err)
		require.Len(t, nodes, test.first+test.last)
		commits := map[registry.Revision]bool{}
		for _, n := range nodes {
			commits[n.Revision] = true
			if test.last > 0 && registry.Within(n.Path, "/orders/last") {
				require.Equal(t, revision, n.Revision)
			}
		}
		require.Len(t, commits, test.commits)
		require.NoError(t, reg.Close(context.Background()))
	}
}

func TestNothingBehindAConflict(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/orders/first/120", "theirs")}})
	require.NoError(t, err)
	require.ErrorIs(t, guarded.Commit(t.Context(), reg, steps("first", 250), steps("last", 1)), registry.ErrConflict)
	nodes, _, err := reg.List(t.Context(), "/orders")
	require.NoError(t, err)
	require.Len(t, nodes, 101)
	require.NoError(t, reg.Close(context.Background()))
}
