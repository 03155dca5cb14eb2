package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlite"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func openStore(t *testing.T) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	return store
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	_, err := store.Output(t.Context(), "orders", "1")
	require.ErrorIs(t, err, history.ErrNoOutput)
	old := history.Output{ID: "1", Job: "orders", Item: 3, Token: 17, Start: noon, Bytes: 900, Text: "zwölf\n\x01"}
	for _, o := range []history.Output{{ID: "1", Job: "orders", Start: noon, Text: "first try"}, old, {ID: "2", Job: "orders", Start: noon.Add(time.Hour)}} {
		require.NoError(t, store.KeepOutput(t.Context(), o, 9))
	}
	got, err := store.Output(t.Context(), "orders", "1")
	require.NoError(t, err)
	require.Equal(t, old, got)
	_, err = store.Output(t.Context(), "mail", "1")
	require.ErrorIs(t, err, history.ErrNoOutput, "it is that of another job")
	n, err := store.DeleteOutputsBefore(t.Context(), noon.Add(time.Minute))
	require.NoError(t, err)
	require.Equal(t, int64(1), n)
	_, err = store.Output(t.Context(), "orders", "1")
	require.ErrorIs(t, err, history.ErrNoOutput)
	_, err = store.Output(t.Context(), "orders", "2")
	require.NoError(t, err)
}

func TestWhichOutputsAreKept(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	var ids []string
	want := make(map[string]int64)
	for n := range 1_200 {
		ids = append(ids, fmt.Sprint(n))
		if n%100 == 99 {
			want[ids[n]] = int64(n)
			require.NoError(t, store.KeepOutput(t.Context(), history.Output{ID: ids[n], Job: "orders", Start: noon, Bytes: int64(n)}, 20))
		}
	}
	found, err := store.OutputsOf(t.Context(), ids)
	require.NoError(t, err)
	require.Equal(t, want, found)
	found, err = store.OutputsOf(t.Context(), nil)
	require.NoError(t, err)
	require.Empty(t, found)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	_, err = store.OutputsOf(stopped, ids)
	require.ErrorIs(t, err, context.Canceled)
}

// Of all outputs together, the oldest go first.
func TestOutputsBeyondABound(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	for n := range 10 {
		o := history.Output{ID: fmt.Sprint(n), Job: fmt.Sprintf("job-%d", n%3), Item: n % 2, Start: noon.Add(time.Duration(n) * time.Second), Text: strings.Repeat("ü", 500)}
		require.NoError(t, store.KeepOutput(t.Context(), o, 9))
	}
	const each = 1000 + sqlite.OutputOverhead
	left := func() (ids []string) {
		for n := range 10 {
			if _, err := store.Output(t.Context(), fmt.Sprintf("job-%d", n%3), fmt.Sprint(n)); err == nil {
				ids = append(ids, fmt.Sprint(n))
			}
		}
		return ids
	}
	for _, test := range []struct {
		size    int64
		deleted int64
		left    []string
	}{{10 * each, 0, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}}, {3*each + 1, 7, []string{"7", "8", "9"}}, {each - 1, 3, nil}} {
		deleted, err := store.DeleteOutputsBeyond(t.Context(), test.size)
		require.NoError(t, err)
		require.Equal(t, test.deleted, deleted)
		require.Equal(t, test.left, left())
	}
	require.NoError(t, store.Close())
	_, err := store.DeleteOutputsBeyond(t.Context(), 1)
	require.ErrorContains(t, err, "delete outputs")
}

// After a clock was set back, what comes is kept, and what was kept before goes.
func TestOutputsOfAClockThatWasSetBack(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	keep := func(id string, start time.Time, most int) {
		require.NoError(t, store.KeepOutput(t.Context(), history.Output{ID: id, Job: "orders", Start: start, Text: strings.Repeat("x", 1000)}, most))
	}
	kept := func() (ids []string) {
		found, err := store.Outputs(t.Context(), history.OutputQuery{Job: "orders", Limit: 9})
		require.NoError(t, err)
		for _, o := range found {
			ids = append(ids, o.ID)
		}
		return ids
	}
	keep("1", noon, 1)
	keep("2", noon.Add(-time.Hour), 1)
	require.Equal(t, []string{"2"}, kept())
	keep("3", noon.Add(-2*time.Hour), 2)
	keep("2", noon.Add(-time.Hour), 2) // once more, so it comes last
	keep("4", noon.Add(-3*time.Hour), 2)
	require.Equal(t, []string{"4", "2"}, kept(), "what came last is the newest")
	deleted, err := store.DeleteOutputsBeyond(t.Context(), 1000+sqlite.OutputOverhead)
	require.NoError(t, err)
	require.Equal(t, int64(1), deleted)
	require.Equal(t, []string{"4"}, kept())
}

func TestListsOfOutputs(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	for n := range 6 {
		o := history.Output{ID: fmt.Sprint(n), Job: "orders", Item: n % 2, Token: int64(40 + n), Start: noon.Add(time.Duration(n) * time.Second), Bytes: 4, Text: "text"}
		require.NoError(t, store.KeepOutput(t.Context(), o, 2))
	}
	require.NoError(t, store.KeepOutput(t.Context(), history.Output{ID: "x", Job: "mail", Start: noon.Add(time.Hour)}, 2))
	one := 1
	for name, test := range map[string]struct {
		query history.OutputQuery
		want  []string
	}{
		"the newest":              {history.OutputQuery{}, []string{"5"}},
		"the newest of each item": {history.OutputQuery{Limit: 100}, []string{"5", "4", "3", "2"}},
		"of an item":              {history.OutputQuery{Item: &one, Limit: 9}, []string{"5", "3"}},
		"by token":                {history.OutputQuery{Token: 42}, []string{"2"}},
		"none":                    {history.OutputQuery{Token: 40}, nil},
	} {
		test.query.Job = "orders"
		found, err := store.Outputs(t.Context(), test.query)
		require.NoError(t, err, name)
		var ids []string
		for _, o := range found {
			require.Empty(t, o.Text, name)
			require.Equal(t, int64(4), o.Bytes, name)
			ids = append(ids, o.ID)
		}
		require.Equal(t, test.want, ids, name)
	}
	for _, q := range []history.OutputQuery{{}, {Job: "orders", Limit: -1}, {Job: "orders", Limit: history.MaxOutputs + 1}} {
		_, err := store.Outputs(t.Context(), q)
		require.ErrorIs(t, err, history.ErrInvalidQuery)
	}
}

func TestOutputsThatAreNotKept(t *testing.T) {
	t.Parallel()
	store := openStore(t)
	err := store.KeepOutput(t.Context(), history.Output{ID: "1", Job: "orders", Text: strings.Repeat("x", history.MaxOutput+1)}, 1)
	require.ErrorContains(t, err, "want at most")
	err = store.KeepOutput(t.Context(), history.Output{ID: "1", Job: "orders"}, 0)
	require.ErrorContains(t, err, "want 1 or more")
	require.NoError(t, store.Close())
	require.ErrorContains(t, store.KeepOutput(t.Context(), history.Output{ID: "1"}, 1), "keep output")
	_, err = store.Outputs(t.Context(), history.OutputQuery{Job: "orders"})
	require.ErrorContains(t, err, "list outputs")
	_, err = store.Output(t.Context(), "orders", "1")
	require.ErrorContains(t, err, "read output")
	_, err = store.DeleteOutputsBefore(t.Context(), noon)
	require.ErrorContains(t, err, "delete outputs")
}

// Somebody drops the table while it is in use.
func TestOutputsOfADroppedTable(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	other, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	_, err = other.ExecContext(t.Context(), "DROP TABLE ELASTICRON_OUTPUT_LOG")
	require.NoError(t, err)
	_, err = store.Output(t.Context(), "orders", "1")
	require.ErrorContains(t, err, "no such table")
	require.NoError(t, store.KeepOutput(t.Context(), history.Output{ID: "1", Job: "orders", Text: "x"}, 1))
	kept, err := store.Output(t.Context(), "orders", "1")
	require.NoError(t, err)
	require.Equal(t, "x", kept.Text)
}
