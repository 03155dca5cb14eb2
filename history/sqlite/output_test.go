package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history/sqlite"
)

func TestOutputs(t *testing.T) {
	t.Parallel()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	require.NoError(t, err)
	defer store.Close()
	_, err = store.Output(t.Context(), "1")
	require.ErrorIs(t, err, sqlite.ErrNoOutput)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	old := sqlite.Output{ID: "1", Job: "orders", Item: 3, Start: at, Text: "zwölf\n\x01"}
	for _, o := range []sqlite.Output{{ID: "1", Job: "orders", Start: at, Text: "first try"}, old, {ID: "2", Job: "orders", Start: at.Add(time.Hour)}} {
		require.NoError(t, store.KeepOutput(t.Context(), o))
	}
	got, err := store.Output(t.Context(), "1")
	require.NoError(t, err)
	require.Equal(t, old, got)
	n, err := store.DeleteOutputsBefore(t.Context(), at.Add(time.Minute))
	require.NoError(t, err)
	require.Equal(t, int64(1), n)
	_, err = store.Output(t.Context(), "1")
	require.ErrorIs(t, err, sqlite.ErrNoOutput)
	_, err = store.Output(t.Context(), "2")
	require.NoError(t, err)
}
