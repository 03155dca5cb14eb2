package sqlstore_test

import (
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlstore"
	"github.com/elasticron/elasticron/integration/databases"
)

// In MySQL a time is an instant, whatever the zone of sessions and what the driver makes of times, and
// sessions keep the zone that they had.
func TestZonesOfMySQL(t *testing.T) {
	t.Parallel()
	server := databases.Start(t, databases.MariaDB)
	first := server.Open(t)
	var name string
	require.NoError(t, first.QueryRow("SELECT DATABASE()").Scan(&name))
	const elsewhere = "&time_zone=%27-07:30%27"
	for i, parameters := range []string{"", elsewhere, elsewhere + "&parseTime=true", elsewhere + "&parseTime=true&loc=Asia%2FTokyo"} {
		db, err := sql.Open("mysql", server.DSN(name)+parameters)
		require.NoError(t, err)
		defer db.Close()
		db.SetMaxOpenConns(1)
		var before, after string
		require.NoError(t, db.QueryRow("SELECT @@SESSION.time_zone").Scan(&before))
		s, err := sqlstore.New(db, sqlstore.MySQL, sqlstore.WithLocation(time.FixedZone("", 3600)))
		require.NoError(t, err)
		at := begin.Add(time.Duration(i) * time.Hour)
		e := started(i, at).Ended(at.Add(time.Second), nil, nil)
		write(t, s, e)
		page, err := s.Executions(t.Context(), history.ExecutionQuery{From: at, Until: at})
		require.NoError(t, err)
		require.Equal(t, []history.Execution{e}, page.Rows, parameters)
		require.NoError(t, db.QueryRow("SELECT @@SESSION.time_zone").Scan(&after))
		require.Equal(t, before, after)
		var unix float64
		require.NoError(t, db.QueryRow("SELECT UNIX_TIMESTAMP(start_time) FROM JOB_EXECUTION_LOG WHERE id = ?", e.ID).Scan(&unix))
		require.InDelta(t, float64(at.UnixMilli())/1000, unix, 0.0001, parameters)
	}

	// What a clock shows that is off by decades is stored as near as can be.
	db := server.Open(t)
	s, err := sqlstore.New(db, sqlstore.MySQL)
	require.NoError(t, err)
	broken := started(0, time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC)).Ended(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC), nil, nil)
	write(t, s, broken)
	rows := all(t, s)
	require.Equal(t, "1970-01-01 00:00:01", rows[0].Start.Format(time.DateTime))
	require.Equal(t, "2038-01-19 03:14:07", rows[0].Complete.Format(time.DateTime))
}

// Beside Java in PostgreSQL, the wall clock is that of its virtual machines.
func TestLocationOfPostgreSQL(t *testing.T) {
	t.Parallel()
	db := databases.Start(t, databases.PostgreSQL).Open(t)
	s, err := sqlstore.New(db, sqlstore.PostgreSQL, sqlstore.WithLocation(time.FixedZone("", 2*3600)))
	require.NoError(t, err)
	e := started(0, begin)
	write(t, s, e)
	var wall string
	require.NoError(t, db.QueryRow("SELECT to_char(start_time, 'YYYY-MM-DD HH24:MI:SS.MS') FROM JOB_EXECUTION_LOG").Scan(&wall))
	require.Equal(t, "2026-03-01 12:00:00.123", wall)
	page, err := s.Executions(t.Context(), history.ExecutionQuery{From: begin, Until: begin})
	require.NoError(t, err)
	require.Equal(t, []history.Execution{e}, page.Rows)
}
