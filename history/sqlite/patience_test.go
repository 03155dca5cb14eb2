package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/internal/standstill"
)

// While another process writes, who waits for it goes by its context.
func TestABusyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	store, err := sqlite.Open(t.Context(), path)
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	other, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	write := func(ctx context.Context) error { return store.Write(ctx, []history.Event{execution(1)}) }

	_, err = other.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	stood := standstill.New(t)
	for name, call := range map[string]func(ctx context.Context) error{
		"write": write,
		"keep": func(ctx context.Context) error {
			return store.KeepOutput(ctx, history.Output{ID: "1", Job: "orders"}, 3)
		},
		"delete": func(ctx context.Context) error {
			_, err := store.DeleteOutputsBefore(ctx, time.Now())
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		began := time.Now()
		require.ErrorIs(t, call(ctx), context.DeadlineExceeded, name)
		require.Less(t, stood.Elapsed(began), 5*time.Second, name)
		cancel()
	}
	_, err = store.Executions(t.Context(), history.ExecutionQuery{})
	require.NoError(t, err, "who reads does not wait")

	written := make(chan error, 1)
	go func() { written <- write(t.Context()) }()
	select {
	case err := <-written:
		t.Fatalf("written too early: %v", err)
	case <-time.After(time.Second): // longer than SQLite itself waits
	}
	_, err = other.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	require.NoError(t, <-written)
	page, err := store.Executions(t.Context(), history.ExecutionQuery{})
	require.NoError(t, err)
	require.Equal(t, 1, page.Total)
}
