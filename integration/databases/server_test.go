package databases_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/elasticron/elasticron/integration/databases"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var kinds = []*databases.Kind{databases.PostgreSQL, databases.MariaDB}

// What a server has confirmed is there after a crash, under the same address.
func TestACrashLosesNothing(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			server := databases.Start(t, kind)
			db := server.Open(t)
			_, err := db.ExecContext(t.Context(), "CREATE TABLE seen (n INT)")
			require.NoError(t, err)
			for n := range 10 {
				_, err := db.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO seen VALUES (%d)", n))
				require.NoError(t, err)
			}
			server.Kill()
			require.Error(t, db.PingContext(t.Context()), "a killed server answers")
			require.NoError(t, server.Run(t.Context()))
			require.Error(t, server.Run(t.Context()), "it runs already")
			var count int
			require.NoError(t, db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM seen").Scan(&count))
			require.Equal(t, 10, count)
		})
	}
}

func TestDatabasesAreApart(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds {
		t.Run(kind.Name, func(t *testing.T) {
			t.Parallel()
			server := databases.Start(t, kind)
			for range 2 {
				_, err := server.Open(t).ExecContext(t.Context(), "CREATE TABLE mine (n INT)")
				require.NoError(t, err)
			}
		})
	}
}

// skips hears what Need says instead of running a test.
type skips struct {
	testing.TB
	skipped, failed string
}

func (s *skips) Helper() {}

func (s *skips) Skipf(format string, args ...any) { s.skipped = fmt.Sprintf(format, args...) }

func (s *skips) Fatalf(format string, args ...any) { s.failed = fmt.Sprintf(format, args...) }

func TestNeedNamesWhatIsMissing(t *testing.T) {
	missing := *databases.MariaDB
	databases.SetPrograms(&missing, "no-such-program")
	t.Setenv("PATH", t.TempDir()) // no apt-get either
	for _, env := range []struct{ ci, skipped, failed string }{
		{"", "NEEDED: [no-such-program] of MariaDB: install it (Debian: apt-get install mariadb-server-core), " +
			"or set ELASTICRON_INSTALL=1 as root", ""},
		{"true", "", "NEEDED: [no-such-program] of MariaDB: in CI this test must not be skipped, and programs cannot be installed"},
	} {
		t.Setenv("CI", env.ci)
		heard := &skips{TB: t}
		databases.Need(heard, &missing)
		require.Equal(t, env.skipped, heard.skipped)
		require.Equal(t, env.failed, heard.failed)
	}
}
