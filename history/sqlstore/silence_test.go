package sqlstore_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlstore"
)

// muting is a database whose connections may fall silent, as those that a proxy has dropped without a word: then nothing that is
// asked on them is answered before its time is over.
type muting struct {
	of     driver.Driver
	file   string
	opened atomic.Int32
	silent atomic.Int32 // the connections up to this one are
	left   atomic.Int32 // how many statements the first of them is asked before; below zero: any number

	unanswered atomic.Value // the first statement without an answer, a string
}

func (m *muting) Driver() driver.Driver { return m.of }

func (m *muting) Connect(context.Context) (driver.Conn, error) {
	opened, err := m.of.Open(m.file)
	if err != nil {
		return nil, err
	}
	return &mutedConn{conn: opened.(conn), of: m, number: m.opened.Add(1)}, nil
}

type mutedConn struct {
	conn
	of     *muting
	number int32
	broken bool
}

func (c *mutedConn) IsValid() bool { return !c.broken }

// answers waits for the end of ctx if the connection is silent.
func (c *mutedConn) answers(ctx context.Context, query string) error {
	if c.number > c.of.silent.Load() && (c.number > 1 || c.of.left.Add(-1) != -1) {
		return nil
	}
	c.of.silent.CompareAndSwap(0, 1)
	c.of.unanswered.CompareAndSwap(nil, query)
	<-ctx.Done()
	c.broken = true
	return ctx.Err()
}

func (c *mutedConn) BeginTx(ctx context.Context, opts driver.TxOptions) (driver.Tx, error) {
	if err := c.answers(ctx, "BEGIN"); err != nil {
		return nil, err
	}
	return c.conn.BeginTx(ctx, opts)
}

func (c *mutedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.answers(ctx, query); err != nil {
		return nil, err
	}
	return c.conn.ExecContext(ctx, query, args)
}

func (c *mutedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.answers(ctx, query); err != nil {
		return nil, err
	}
	return c.conn.QueryContext(ctx, query, args)
}

// overMuting has a test use a store over such a database, in virtual time.
func overMuting(t *testing.T, test func(t *testing.T, s *sqlstore.Store, db *sql.DB, m *muting, log func() string)) {
	t.Helper()
	p := place{dialect: sqlstore.SQLite}
	sqlite := p.open(t).Driver()
	file := "file:" + filepath.ToSlash(t.TempDir()) + "/history.db?_pragma=busy_timeout(10000)&_txlock=immediate"
	synctest.Test(t, func(t *testing.T) {
		m := &muting{of: sqlite, file: file}
		m.left.Store(-1)
		db := sql.OpenDB(m)
		defer func() { require.NoError(t, db.Close()) }()
		var said lines
		s := p.over(t, db, sqlstore.WithLogger(slog.New(slog.NewTextHandler(&said, nil))))
		test(t, s, db, m, said.all)
	})
}

// lines is a log that may be read while it is written.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func writeWithin(t *testing.T, s *sqlstore.Store, d time.Duration, events ...history.Event) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return s.Write(ctx, events)
}

// old is an event that a retention of an hour deletes, and between one before which there is no pause, nor behind it.
func old(n int) history.Event     { return started(n, time.Now().Add(-80*time.Minute)) }
func between(n int) history.Event { return started(n, time.Now().Add(-30*time.Minute)) }

// A retention that finds a dead connection in the pool when it begins holds up nobody: others have connections that live.
func TestARetentionOverADeadConnection(t *testing.T) {
	t.Parallel()
	for name, made := range map[string]bool{"with tables": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overMuting(t, func(t *testing.T, s *sqlstore.Store, db *sql.DB, m *muting, log func() string) {
				t.Helper()
				if made {
					require.NoError(t, place{dialect: sqlstore.SQLite}.over(t, db).Prepare(t.Context()))
				}
				require.NoError(t, db.PingContext(t.Context()))
				m.silent.Store(m.opened.Load())
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- s.Retain(ctx, time.Hour, 10*time.Minute) }()
				synctest.Wait()
				for n := range 4 {
					require.NoError(t, writeWithin(t, s, 5*time.Second, old(n), between(8+n), started(4+n, time.Now())))
				}
				time.Sleep(time.Minute)
				require.Contains(t, log(), "old events could not be deleted, will try again")
				require.Contains(t, log(), "the database did not answer within 30s")
				time.Sleep(10 * time.Minute)
				require.Contains(t, log(), "deleted old events")
				require.Len(t, all(t, s), 8)
				cancel()
				require.NoError(t, <-done)
			})
		})
	}
}

// Nor does one whose connection dies later end the retention.
func TestAConnectionOfARetentionDies(t *testing.T) {
	t.Parallel()
	for left := range int32(8) {
		overMuting(t, func(t *testing.T, s *sqlstore.Store, _ *sql.DB, m *muting, log func() string) {
			t.Helper()
			require.NoError(t, writeWithin(t, s, time.Minute, started(0, time.Now()), old(1), between(2)))
			require.Equal(t, int32(1), m.opened.Load())
			m.left.Store(left)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- s.Retain(ctx, time.Hour, 10*time.Minute) }()
			time.Sleep(15 * time.Minute)
			require.Contains(t, log(), "the database did not answer within 2m0s", "after %d statements", left)
			require.Len(t, all(t, s), 2)
			cancel()
			require.NoError(t, <-done)
		})
	}
}

// Whoever makes the tables over a connection that dies lets others have a try: soon, if it was still looking what there is.
func TestAConnectionDiesWhileTablesAreMade(t *testing.T) {
	t.Parallel()
	for left := range int32(12) {
		overMuting(t, func(t *testing.T, s *sqlstore.Store, _ *sql.DB, m *muting, _ func() string) {
			t.Helper()
			m.left.Store(left)
			first := make(chan error, 1)
			began := time.Now()
			go func() { first <- s.Prepare(t.Context()) }()
			synctest.Wait()
			var err error
			for err = writeWithin(t, s, 30*time.Second, started(0, begin)); err != nil; err = writeWithin(t, s, 30*time.Second, started(0, begin)) {
				require.Less(t, time.Since(began), 2*time.Hour, "after %d statements: %s", left, err)
			}
			looked := strings.HasPrefix(m.unanswered.Load().(string), "SELECT")
			require.Equal(t, looked, time.Since(began) < time.Minute, "after %d statements", left)
			require.ErrorContains(t, <-first, "prepare the tables: the database did not answer within")
			require.Len(t, all(t, s), 1)
		})
	}
}

// The indexes of tables with rows are made beside all else, and on a connection that dies they are not waited for without end.
func TestAConnectionDiesWhileIndexesAreMade(t *testing.T) {
	t.Parallel()
	p := place{dialect: sqlstore.SQLite}
	for left := range int32(9 + len(allIndexes)) {
		overMuting(t, func(t *testing.T, s *sqlstore.Store, db *sql.DB, m *muting, _ func() string) {
			t.Helper()
			require.NoError(t, writeWithin(t, s, time.Minute, started(0, begin)))
			for _, name := range allIndexes {
				exec(t, db, "DROP INDEX "+name)
			}
			require.Equal(t, int32(1), m.opened.Load())
			s = p.over(t, db)
			m.left.Store(left)
			began := time.Now()
			require.ErrorContains(t, s.Prepare(t.Context()), "the database did not answer within", "after %d statements", left)
			require.LessOrEqual(t, time.Since(began), 24*time.Hour)
			require.NoError(t, s.Prepare(t.Context()))
			require.ElementsMatch(t, allIndexes, indexes(t, p, db))
		})
	}
}
