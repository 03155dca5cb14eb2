package history_test

import (
	"context"
	"database/sql"
	"flag"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/history/sqlite"
	"github.com/elasticron/elasticron/history/sqlstore"
	"github.com/elasticron/elasticron/integration/databases"
)

var (
	loadFor   = flag.Duration("history.for", 10*time.Second, "how long executions come")
	outage    = flag.Duration("history.outage", 3*time.Second, "how long the store is away in their middle")
	perMinute = flag.Int("history.rate", 10_000, "executions per minute")
)

func TestMain(m *testing.M) {
	flag.Parse()
	goleak.VerifyTestMain(m)
}

// place is a store that can go away.
type place struct {
	name string
	// open opens the store, as in real life, and returns how to take it away and how to bring it back.
	open func(tb testing.TB) (store *sqlstore.Store, away, back deed)
}

type deed = func(context.Context) error

var places = []place{
	{"SQLite", openFile},
	{"PostgreSQL", func(tb testing.TB) (*sqlstore.Store, deed, deed) { return openServer(tb, databases.PostgreSQL) }},
	{"MariaDB", func(tb testing.TB) (*sqlstore.Store, deed, deed) { return openServer(tb, databases.MariaDB) }},
}

// openServer takes the store away by killing its server.
func openServer(tb testing.TB, kind *databases.Kind) (*sqlstore.Store, deed, deed) {
	tb.Helper()
	server := databases.Start(tb, kind, databases.WithForcedSync())
	store, err := sqlstore.New(server.Open(tb), sqlstore.Dialect(kind.Dialect))
	require.NoError(tb, err)
	return store, func(context.Context) error { server.Kill(); return nil }, server.Run
}

// openFile takes the store away by locking its file.
func openFile(tb testing.TB) (*sqlstore.Store, deed, deed) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "history.db")
	store, err := sqlite.Open(tb.Context(), path)
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, store.Close()) })
	other, err := sql.Open("sqlite", "file:"+filepath.ToSlash(path)+"?_pragma=busy_timeout(60000)")
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, other.Close()) })
	lock, err := other.Conn(tb.Context())
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, lock.Close()) })
	run := func(statement string) deed {
		return func(ctx context.Context) error {
			_, err := lock.ExecContext(ctx, statement)
			return err
		}
	}
	return store.Store, run("BEGIN IMMEDIATE"), run("ROLLBACK")
}
