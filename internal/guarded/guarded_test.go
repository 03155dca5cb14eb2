package guarded_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

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
		{0, 0, 0}, {0, 1, 1}, {1, 0, 1}, {58, 2, 1}, {59, 2, 2}, {60, 2, 2}, {61, 2, 3}, {150, 2, 4}, {150, 0, 3},
	} {
		server := memory.NewServer()
		reg := server.Open("test")
		_, err := guarded.NewWriter(reg).Commit(t.Context(), steps("first", test.first), steps("last", test.last))
		require.NoError(t, err)
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
	_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/orders/first/70", "theirs")}})
	require.NoError(t, err)
	again, err := guarded.NewWriter(reg).Commit(t.Context(), steps("first", 150), steps("last", 1))
	require.ErrorIs(t, err, registry.ErrConflict)
	require.False(t, again)
	nodes, _, err := reg.List(t.Context(), "/orders")
	require.NoError(t, err)
	require.Len(t, nodes, 61)
	require.NoError(t, reg.Close(context.Background()))
}

// What was created without an answer is not created once more: only what is lacking besides.
func TestNothingIsCreatedTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		reg := memory.NewServer().Open("test")
		defer reg.Close(context.Background()) //nolint:errcheck // nothing is left to be said
		reg.HoldBack(1, time.Minute)
		w := guarded.NewWriter(reg)
		again, err := w.Commit(t.Context(), steps("first", 2), nil)
		require.ErrorIs(t, err, registry.ErrUnknownOutcome)
		require.True(t, again)
		_, err = w.Commit(t.Context(), steps("other", 2), nil)
		require.NoError(t, err)
		again, err = w.Commit(t.Context(), steps("other", 3)[2:], steps("first", 1))
		require.ErrorIs(t, err, registry.ErrUnknownOutcome)
		require.False(t, again)
		nodes, _, err := reg.List(t.Context(), "/orders")
		require.NoError(t, err)
		require.Len(t, nodes, 2)
	})
}

// What every transaction needs keeps each of them from being done.
func TestWhatEachTransactionNeeds(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	_, err := guarded.NewWriter(reg, registry.Absent("/orders/config")).Commit(t.Context(), steps("first", 150), nil)
	require.NoError(t, err)
	_, err = reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/orders/config", "theirs")}})
	require.NoError(t, err)
	_, err = guarded.NewWriter(reg, registry.Absent("/orders/config")).Commit(t.Context(), steps("later", 150), nil)
	require.ErrorIs(t, err, registry.ErrConflict)
	nodes, _, err := reg.List(t.Context(), "/orders/later")
	require.NoError(t, err)
	require.Empty(t, nodes)
	require.NoError(t, reg.Close(context.Background()))
}
