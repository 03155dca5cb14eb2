package sqlstore_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlstore"
)

// A table that somebody made without a key on its ids takes nothing, rather than the same event twice, until the key is there.
// What it has is shown.
func testNoKey(t *testing.T, p place) {
	const key, late = "PRIMARY KEY (id)", "CONSTRAINT late UNIQUE (id) DEFERRABLE"
	tables := map[string]string{"JOB_EXECUTION_LOG": javaExecutions(p.dialect, ""), "JOB_STATUS_TRACE_LOG": javaStatuses}
	others := []string{"UNIQUE (id, job_name)", "UNIQUE (task_id)", "CHECK (id <> '')"}
	switch p.dialect {
	case sqlstore.PostgreSQL:
		others = append(others, late)
	case sqlstore.MySQL:
		others = append(others, "UNIQUE (id(7))", "KEY (id)")
	}
	for without := range tables {
		for _, other := range others {
			db := p.open(t)
			for name, create := range tables {
				if name == without {
					create = strings.Replace(create, key, other, 1)
				}
				exec(t, db, create)
			}
			exec(t, db, `INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source, is_success)
				VALUES ('before', 'orders', 't1', 'java-1', '10.0.0.9', 3, 'NORMAL_TRIGGER', 0)`)
			s := p.over(t, db)
			r := round(begin)
			events := []history.Event{started(0, begin), r.Staged()}
			for range 2 {
				for _, err := range []error{s.Prepare(t.Context()), s.Write(t.Context(), events)} {
					require.ErrorIs(t, err, sqlstore.ErrNoKey, other)
					require.NotErrorAs(t, err, new(*history.RejectedError))
					require.EqualError(t, err, "prepare the tables: table "+without+
						": the table has no unique key on id: delete rows that are there twice, and add a unique key on id")
				}
			}
			require.Len(t, all(t, s), 1)
			require.EventuallyWithT(t, func(c *assert.CollectT) { // else PostgreSQL may end who makes the key meanwhile
				require.ElementsMatch(c, allIndexes, indexes(t, p, db))
			}, time.Minute, 10*time.Millisecond)
			exec(t, db, "CREATE UNIQUE INDEX the_key ON "+without+" (id)")
			if other == late {
				require.ErrorIs(t, s.Prepare(t.Context()), sqlstore.ErrNoKey, "PostgreSQL goes by both")
				exec(t, db, "ALTER TABLE "+without+" DROP CONSTRAINT late")
			}
			write(t, s, events...)
			write(t, s, events...)
			require.NoError(t, s.Prepare(t.Context()))
			require.Len(t, all(t, s), 2)
			steps, err := s.Statuses(t.Context(), history.StatusQuery{})
			require.NoError(t, err)
			require.Equal(t, 1, steps.Total)
		}
	}
}

// Somebody takes the key away while the tables are in use, and puts it back.
func testKeyIsTakenAway(t *testing.T, p place) {
	if p.dialect == sqlstore.SQLite {
		t.Skip("there, a key cannot be taken away")
	}
	s, db := p.store(t)
	write(t, s, started(0, begin))
	exec(t, db, map[sqlstore.Dialect]string{
		sqlstore.PostgreSQL: "ALTER TABLE JOB_EXECUTION_LOG DROP CONSTRAINT job_execution_log_pkey",
		sqlstore.MySQL:      "ALTER TABLE JOB_EXECUTION_LOG DROP PRIMARY KEY",
	}[p.dialect])
	require.ErrorIs(t, p.over(t, db).Prepare(t.Context()), sqlstore.ErrNoKey)
	exec(t, db, "ALTER TABLE JOB_EXECUTION_LOG ADD PRIMARY KEY (id)")
	write(t, s, started(0, begin))
	require.Len(t, all(t, s), 1)
}

// The key may carry what it is not made of.
func testKeyThatCarries(t *testing.T, p place) {
	if p.dialect != sqlstore.PostgreSQL {
		t.Skip("no other index carries anything")
	}
	db := p.open(t)
	exec(t, db, strings.Replace(javaExecutions(p.dialect, ""), "PRIMARY KEY (id)", "UNIQUE (id) INCLUDE (job_name)", 1))
	s := p.over(t, db)
	write(t, s, started(0, begin))
	write(t, s, started(0, begin))
	require.Len(t, all(t, s), 1)
}
