//go:build unix

package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlite"
)

// Who has a file open that was taken away, or begun anew by another process, says so, and stores nothing where nobody finds it.
// When the very file is back, it goes on.
func TestAFileThatIsTakenAway(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	defer store.Close()
	n := 0
	calls := func() map[string]error {
		n++
		errs := map[string]error{
			"write": store.Write(t.Context(), []history.Event{execution(n)}),
			"keep":  store.KeepOutput(t.Context(), history.Output{ID: "1", Job: "orders"}, 3),
		}
		_, errs["executions"] = store.Executions(t.Context(), history.ExecutionQuery{})
		_, errs["statuses"] = store.Statuses(t.Context(), history.StatusQuery{})
		_, errs["outputs"] = store.Outputs(t.Context(), history.OutputQuery{Job: "orders"})
		_, errs["output"] = store.Output(t.Context(), "orders", "1")
		_, errs["outputs of executions"] = store.OutputsOf(t.Context(), []string{"1"})
		return errs
	}
	for how, take := range map[string]func(away string){
		"renamed": func(away string) { require.NoError(t, os.Rename(path, away)) },
		"replaced": func(away string) {
			require.NoError(t, os.Rename(path, away))
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		},
	} {
		for name, err := range calls() {
			require.NoError(t, err, name)
		}
		away := path + ".1"
		take(away)
		for name, err := range calls() {
			require.ErrorIs(t, err, sqlite.ErrGone, how+": "+name)
			require.ErrorContains(t, err, path)
		}
		require.NoError(t, os.Rename(away, path))
		page, err := store.Executions(t.Context(), history.ExecutionQuery{})
		require.NoError(t, err)
		require.Equal(t, (n+1)/2, page.Total)
	}
	for _, name := range []string{path, path + "-wal", path + "-shm"} {
		require.NoError(t, os.Remove(name))
	}
	other, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, other.Write(t.Context(), []history.Event{execution(7)}))
	for name, err := range calls() {
		require.ErrorIs(t, err, sqlite.ErrGone, name)
	}
	require.NoError(t, store.Close(), "what SQLite keeps next to the new file is not its own")
	require.NoError(t, other.Write(t.Context(), []history.Event{execution(8)}))
	require.NoError(t, other.Close())
	other, err = sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	defer other.Close()
	page, err := other.Executions(t.Context(), history.ExecutionQuery{})
	require.NoError(t, err)
	require.Equal(t, 2, page.Total)
}
