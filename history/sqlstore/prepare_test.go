package sqlstore_test

import (
	"context"
	"database/sql"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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

// indexes returns the names of the indexes of executions that queries can use.
func indexes(t *testing.T, p place, db *sql.DB) (names []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), map[sqlstore.Dialect]string{
		sqlstore.SQLite: "SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'JOB_EXECUTION_LOG' AND name LIKE 'JOB%'",
		sqlstore.PostgreSQL: `SELECT upper(c.relname) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			WHERE i.indrelid = 'job_execution_log'::regclass AND i.indisvalid AND NOT i.indisunique`,
		sqlstore.MySQL: `SELECT DISTINCT index_name FROM information_schema.statistics
			WHERE table_schema = DATABASE() AND table_name = 'JOB_EXECUTION_LOG' AND index_name LIKE 'JOB%'`,
	}[p.dialect])
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	require.NoError(t, rows.Err())
	return names
}

var allIndexes = []string{"JOB_EXECUTION_TIME_INDEX", "JOB_EXECUTION_JOB_INDEX", "JOB_EXECUTION_ROUND_INDEX"}

// Several processes come at once upon tables that Java has filled. Nobody may drop what another one is about to make.
func testIndexesOfATableWithRows(t *testing.T, p place) {
	db := p.open(t)
	exec(t, db, javaExecutions(p.dialect, ""))
	exec(t, db, javaStatuses)
	exec(t, db, `INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, is_success)
		VALUES ('before', 'orders', 't1', 'java-1', '10.0.0.9', 3, 'NORMAL_TRIGGER', 0)`)
	var wg sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		s := p.over(t, db)
		wg.Go(func() {
			if errs[i] = s.Write(t.Context(), []history.Event{started(i, begin)}); errs[i] == nil {
				errs[i] = s.Prepare(t.Context())
			}
		})
	}
	wg.Wait()
	require.Equal(t, make([]error, 4), errs)
	// Whoever finds that another one makes them does not wait for that.
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		require.ElementsMatch(c, allIndexes, indexes(t, p, db))
	}, time.Minute, 10*time.Millisecond)
	require.Len(t, all(t, p.over(t, db)), 5)
}

// However long the indexes of a table take, events are stored meanwhile.
func testWritesBesideIndexes(t *testing.T, p place) {
	first, db := p.store(t)
	write(t, first, started(3, begin))
	for _, name := range allIndexes {
		exec(t, db, "DROP INDEX "+name)
	}
	held, err := db.BeginTx(t.Context(), nil) // for which whoever makes an index waits
	require.NoError(t, err)
	_, err = held.ExecContext(t.Context(), "UPDATE JOB_EXECUTION_LOG SET is_success = 1")
	require.NoError(t, err)
	s := p.over(t, db)
	for i := range 3 {
		inTime, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		require.NoError(t, s.Write(inTime, []history.Event{started(i, begin)}))
		cancel()
	}
	short, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.Prepare(short), context.DeadlineExceeded)
	require.Len(t, all(t, s), 4)
	require.NoError(t, held.Rollback())
	require.NoError(t, s.Prepare(t.Context()), "who asks for the indexes waits for them")
	require.ElementsMatch(t, allIndexes, indexes(t, p, db))
}

// What is left of a process that ended while it made an index is no index, and does not stand in the way of one.
func testHalfMadeIndex(t *testing.T, p place) {
	db := p.open(t)
	exec(t, db, javaExecutions(p.dialect, ""))
	for _, id := range []string{"a", "b"} {
		exec(t, db, p.bound(`INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, is_success)
			VALUES (?, 'orders', 't1', 'java-1', '10.0.0.9', 3, 'NORMAL_TRIGGER', 0)`), id)
	}
	_, err := db.ExecContext(t.Context(), "CREATE UNIQUE INDEX CONCURRENTLY JOB_EXECUTION_JOB_INDEX ON JOB_EXECUTION_LOG (job_name)")
	require.Error(t, err, "it is left invalid")
	require.NoError(t, p.over(t, db).Prepare(t.Context()))
	require.ElementsMatch(t, allIndexes, indexes(t, p, db))
}

// The indexes may be another one's to make: events are stored without them.
func TestIndexesThatCannotBeMade(t *testing.T) {
	t.Parallel()
	p := place{dialect: sqlstore.SQLite}
	s, db := p.store(t)
	db.SetMaxOpenConns(1) // others would learn late that there is no such table any more
	write(t, s, started(0, begin))
	exec(t, db, "DROP INDEX JOB_EXECUTION_TIME_INDEX")
	exec(t, db, "CREATE TABLE JOB_EXECUTION_TIME_INDEX (x INT)") // which has the name
	s = p.over(t, db)
	write(t, s, started(1, begin))
	require.ErrorContains(t, s.Prepare(t.Context()), "JOB_EXECUTION_TIME_INDEX")
	exec(t, db, "DROP TABLE JOB_EXECUTION_TIME_INDEX")
	write(t, s, started(2, begin))
	require.NoError(t, s.Prepare(t.Context()))
	require.ElementsMatch(t, allIndexes, indexes(t, p, db))
}
