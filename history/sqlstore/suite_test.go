package sqlstore_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlstore"
	"github.com/elasticron/elasticron/integration/databases"
	"github.com/elasticron/elasticron/job"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// place is where a test finds a database.
type place struct {
	dialect sqlstore.Dialect
	server  *databases.Server // nil for SQLite
}

// suite is what every dialect passes, each test in a database of its own.
var suite = []struct {
	name string
	test func(t *testing.T, p place)
}{
	{"RoundTrip", testRoundTrip},
	{"ManyItems", testManyItems},
	{"Order", testOrder},
	{"OrderProperty", testOrderProperty},
	{"Texts", testTexts},
	{"RefusedEvent", testRefusedEvent},
	{"RejectedEvents", testRejectedEvents},
	{"ConstraintOnNames", testConstraintOnNames},
	{"NoPartition", testNoPartition},
	{"NothingOfNow", testNothingOfNow},
	{"NothingOfNowInOneTable", testNothingOfNowInOneTable},
	{"NoEndsOfNow", testNoEndsOfNow},
	{"ConstraintOnNamesAndTimes", testConstraintOnNamesAndTimes},
	{"NarrowTable", testNarrowTable},
	{"NoKey", testNoKey},
	{"KeyIsTakenAway", testKeyIsTakenAway},
	{"KeyThatCarries", testKeyThatCarries},
	{"PrepareTogether", testPrepareTogether},
	{"IndexesOfATableWithRows", testIndexesOfATableWithRows},
	{"DroppedTables", testDroppedTables},
	{"JavaTables", testJavaTables},
	{"ConsoleQueries", testConsoleQueries},
	{"Filters", testFilters},
	{"JobNames", testJobNames},
	{"TextsOfQueries", testTextsOfQueries},
	{"Paging", testPaging},
	{"InvalidQueries", testInvalidQueries},
	{"DeleteBefore", testDeleteBefore},
	{"DeleteAtOnce", testDeleteAtOnce},
	{"Retain", testRetain},
	{"RetainByAClockThatIsAhead", testRetainByAClockThatIsAhead},
	{"RetainAfterALeap", testRetainAfterALeap},
	{"RetainAfterAPause", testRetainAfterAPause},
	{"RetainWhenIdle", testRetainWhenIdle},
	{"RetainByTheClockOfTheDatabase", testRetainByTheClockOfTheDatabase},
}

func TestSQLite(t *testing.T)     { runSuite(t, nil) }
func TestPostgreSQL(t *testing.T) { runSuite(t, databases.PostgreSQL) }
func TestMariaDB(t *testing.T)    { runSuite(t, databases.MariaDB) }

func runSuite(t *testing.T, kind *databases.Kind) {
	t.Parallel()
	p := place{dialect: sqlstore.SQLite}
	if kind != nil {
		p = place{dialect: sqlstore.Dialect(kind.Dialect), server: databases.Start(t, kind)}
	}
	for _, c := range suite {
		t.Run(c.name, func(t *testing.T) { c.test(t, p) })
	}
	if p.dialect == sqlstore.PostgreSQL {
		t.Run("WritesBesideIndexes", func(t *testing.T) { testWritesBesideIndexes(t, p) })
		t.Run("HalfMadeIndex", func(t *testing.T) { testHalfMadeIndex(t, p) })
	}
}

// open opens a new, empty database.
func (p place) open(t *testing.T) *sql.DB {
	t.Helper()
	if p.server != nil {
		return p.server.Open(t)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(t.TempDir())+"/history.db?_pragma=busy_timeout(10000)&_pragma=synchronous(OFF)&_txlock=immediate")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// store makes a store in a new, empty database.
func (p place) store(t *testing.T) (*sqlstore.Store, *sql.DB) {
	t.Helper()
	db := p.open(t)
	return p.over(t, db), db
}

func (p place) over(t *testing.T, db *sql.DB, opts ...sqlstore.Option) *sqlstore.Store {
	t.Helper()
	s, err := sqlstore.New(db, p.dialect, opts...)
	require.NoError(t, err)
	return s
}

var begin = time.Date(2026, 3, 1, 10, 0, 0, 123_000_000, time.UTC)

// started returns the start of an execution of an item.
func started(item int, at time.Time) history.Execution {
	return history.Started("host-1", "R1", job.ShardingContext{
		JobName: "orders", TaskID: "orders@-@0,1@-@READY@-@10.0.0.1@-@42", Item: item, TotalCount: 2,
		Fire: at.Add(-time.Second), Source: job.Scheduled, Token: int64(100 + item),
	}, at)
}

func round(at time.Time) history.Round {
	return history.Round{
		ID: "R1", Job: "orders", TaskID: "orders@-@0,1@-@READY@-@10.0.0.1@-@42", Items: []int{0, 1}, Began: at, Ended: at.Add(time.Second),
	}
}

func write(t *testing.T, s *sqlstore.Store, events ...history.Event) {
	t.Helper()
	require.NoError(t, s.Write(t.Context(), events))
}

// all returns all executions, by item.
func all(t *testing.T, s *sqlstore.Store) []history.Execution {
	t.Helper()
	page, err := s.Executions(t.Context(), history.ExecutionQuery{
		Paging: history.Paging{PerPage: history.MaxPerPage, Sort: "shardingItem", Ascending: true},
	})
	require.NoError(t, err)
	require.Len(t, page.Rows, min(page.Total, history.MaxPerPage))
	return page.Rows
}

func exec(t *testing.T, db *sql.DB, statement string, args ...any) {
	t.Helper()
	_, err := db.ExecContext(t.Context(), statement, args...)
	require.NoError(t, err, statement)
}
