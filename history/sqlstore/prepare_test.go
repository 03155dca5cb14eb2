package sqlstore_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlstore"
	"github.com/elasticron/elasticron/internal/standstill"
)

// Whoever waits while another call prepares the tables, and is held up, waits no longer than its context lets it.
func TestPrepareInTurn(t *testing.T) {
	t.Parallel()
	p := place{dialect: sqlstore.SQLite}
	db := p.open(t)
	held, err := db.BeginTx(t.Context(), nil) // which keeps others from making tables
	require.NoError(t, err)
	s := p.over(t, db)
	first := make(chan error, 1)
	go func() { first <- s.Prepare(context.WithoutCancel(t.Context())) }()
	require.Eventually(t, func() bool { return db.Stats().InUse > 1 }, time.Minute, time.Millisecond)
	time.Sleep(50 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	stood, began := standstill.New(t), time.Now()
	require.ErrorIs(t, s.Write(ctx, []history.Event{started(0, begin)}), context.DeadlineExceeded)
	_, err = s.Executions(ctx, history.ExecutionQuery{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	_, err = s.DeleteBefore(ctx, begin)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, stood.Elapsed(began), 5*time.Second)
	require.NoError(t, held.Rollback())
	require.NoError(t, <-first)
	write(t, s, started(0, begin))
}

// Somebody drops the tables while they are in use. The calls that find it out say so, and the next ones make the tables again.
func testDroppedTables(t *testing.T, p place) {
	t.Parallel()
	s, db := p.store(t)
	r := round(begin)
	write(t, s, started(0, begin), r.Staged())
	for name, call := range map[string]func() error{
		"write": func() error { return s.Write(t.Context(), []history.Event{started(1, begin), r.Staged()}) },
		"read": func() error {
			_, err := s.Statuses(t.Context(), history.StatusQuery{})
			return err
		},
		"delete": func() error {
			_, err := s.DeleteBefore(t.Context(), begin)
			return err
		},
	} {
		exec(t, db, "DROP TABLE JOB_EXECUTION_LOG")
		exec(t, db, "DROP TABLE JOB_STATUS_TRACE_LOG")
		require.Error(t, call(), name)
		require.NoError(t, call(), name)
	}
	exec(t, db, "DROP TABLE JOB_STATUS_TRACE_LOG")
	require.Error(t, s.Write(t.Context(), []history.Event{started(2, begin), r.Staged()}))
	write(t, s, started(2, begin), r.Staged())
	steps, err := s.Statuses(t.Context(), history.StatusQuery{})
	require.NoError(t, err)
	require.Equal(t, 1, steps.Total)
}
