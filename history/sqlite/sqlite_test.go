package sqlite_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func execution(item int) history.Execution {
	at := time.Date(2026, 3, 1, 10, 0, item, 0, time.UTC)
	return history.Started("host-1", "R1", job.ShardingContext{JobName: "orders", Item: item, Source: job.Scheduled, Fire: at}, at)
}

// What was written is there when the file is opened again, whatever its name.
func TestAFileIsOpenedAgain(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "50% of #1 & what?.db")
	for n := range 3 {
		store, err := sqlite.Open(t.Context(), path)
		require.NoError(t, err)
		require.NoError(t, store.Write(t.Context(), []history.Event{execution(n)}))
		page, err := store.Executions(t.Context(), history.ExecutionQuery{})
		require.NoError(t, err)
		require.Equal(t, n+1, page.Total)
		require.Equal(t, execution(n), page.Rows[0])
		require.NoError(t, store.Close())
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode(), "it holds what executions printed")
}

// One process writes while others read and write, too.
func TestAFileIsOpenTwice(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "history.db")
	var stores [2]*sqlite.Store
	for i := range stores {
		store, err := sqlite.Open(t.Context(), path)
		require.NoError(t, err)
		defer store.Close()
		stores[i] = store
	}
	for n := range 20 {
		require.NoError(t, stores[n%2].Write(t.Context(), []history.Event{execution(n)}))
		page, err := stores[(n+1)%2].Executions(t.Context(), history.ExecutionQuery{})
		require.NoError(t, err)
		require.Equal(t, n+1, page.Total)
	}
}

func TestAFileThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	_, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "no", "such", "folder.db"))
	require.ErrorContains(t, err, "open history")
}

func ExampleOpen() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "history-")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	store, err := sqlite.Open(ctx, filepath.Join(folder, "history.db"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()

	bus, err := history.NewBus(history.WithSink("history", store))
	if err != nil {
		fmt.Println(err)
		return
	}
	bus.Start()
	start := execution(3) // in an application, the observer of package observe posts events
	bus.Post(start)
	bus.Post(start.Ended(start.Start.Add(time.Second), nil, nil))
	if err := bus.Close(ctx); err != nil {
		fmt.Println(err)
		return
	}

	success := true
	page, err := store.Executions(ctx, history.ExecutionQuery{Job: "orders", Success: &success})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range page.Rows {
		fmt.Println(e.Job, e.Item, e.Source, e.Complete.Sub(e.Start), e.Success)
	}
	fmt.Println(page.Total, "in all")
	// Output:
	// orders 3 scheduled 1s true
	// 1 in all
}
