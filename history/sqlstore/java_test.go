package sqlstore_test

import (
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/sqlstore"
	"github.com/elasticron/elasticron/job"
)

// javaExecutions makes a table as Elastic-Job 2.1.5 does, with a constraint more for tests.
func javaExecutions(_ sqlstore.Dialect, constraint string) string {
	return `CREATE TABLE JOB_EXECUTION_LOG (id VARCHAR(40) NOT NULL, job_name VARCHAR(100) NOT NULL, task_id VARCHAR(255) NOT NULL,
		hostname VARCHAR(255) NOT NULL, ip VARCHAR(50) NOT NULL, sharding_item INT NOT NULL, execution_source VARCHAR(20) NOT NULL,
		failure_cause VARCHAR(4000) NULL, is_success INT NOT NULL, start_time TIMESTAMP NULL, complete_time TIMESTAMP NULL,
		PRIMARY KEY (id)` + constraint + `)`
}

const javaStatuses = `CREATE TABLE JOB_STATUS_TRACE_LOG (id VARCHAR(40) NOT NULL, job_name VARCHAR(100) NOT NULL,
	original_task_id VARCHAR(255) NOT NULL, task_id VARCHAR(255) NOT NULL, slave_id VARCHAR(50) NOT NULL, source VARCHAR(50) NOT NULL,
	execution_type VARCHAR(20) NOT NULL, sharding_item VARCHAR(100) NOT NULL, state VARCHAR(20) NOT NULL, message VARCHAR(4000) NULL,
	creation_time TIMESTAMP NULL, PRIMARY KEY (id))`

// inSeconds brings what is expected to the precision of tables that Java made in MySQL, which round.
func inSeconds(t *testing.T, p place, want, got []history.Execution) []history.Execution {
	t.Helper()
	if p.dialect != sqlstore.MySQL {
		return got
	}
	require.Len(t, got, len(want))
	for i := range got {
		for _, times := range [][2]*time.Time{{&want[i].Start, &got[i].Start}, {&want[i].Complete, &got[i].Complete}} {
			require.WithinDuration(t, *times[0], *times[1], time.Second)
			*times[1] = *times[0]
		}
	}
	return got
}

// bound gives a statement the parameters of its dialect.
func (p place) bound(statement string) string {
	for n := 1; p.dialect == sqlstore.PostgreSQL && strings.Contains(statement, "?"); n++ {
		statement = strings.Replace(statement, "?", "$"+strconv.Itoa(n), 1)
	}
	return statement
}

// Java made the tables, wrote to them, and goes on writing to them beside us.
func testJavaTables(t *testing.T, p place) {
	db := p.open(t)
	exec(t, db, javaExecutions(p.dialect, ""))
	exec(t, db, javaStatuses)
	insert := func(id, wall string) {
		exec(t, db, p.bound(`INSERT INTO JOB_EXECUTION_LOG (id, job_name, task_id, hostname, ip, sharding_item, execution_source,
			is_success, start_time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`),
			id, "orders", "t1", "java-1", "10.0.0.9", 3, "NORMAL_TRIGGER", 0, wall)
	}
	insert("before", "2026-03-01 09:00:00")
	exec(t, db, `INSERT INTO JOB_STATUS_TRACE_LOG (id, job_name, original_task_id, task_id, slave_id, source, execution_type,
		sharding_item, state, message, creation_time) VALUES ('s1', 'orders', '', 't1', '10.0.0.9', 'LITE_EXECUTOR', 'READY', '[3]',
		'TASK_STAGING', 'begin', '2026-03-01 09:00:00')`)
	s := p.over(t, db)
	ours := started(0, begin.Truncate(time.Second)).Ended(begin.Truncate(time.Second), nil, nil)
	write(t, s, ours, round(begin.Truncate(time.Second)).Staged())
	insert("after", "2026-03-01 11:00:00")
	exec(t, db, p.bound("UPDATE JOB_EXECUTION_LOG SET is_success = ?, complete_time = ? WHERE id = ?"), 1, "2026-03-01 11:00:07", "after")

	java := history.Execution{
		ID: "before", Job: "orders", TaskID: "t1", Hostname: "java-1", IP: "10.0.0.9", Source: job.Scheduled, Item: 3,
		Start: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
	}
	done := java
	done.ID, done.Start = "after", time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)
	done.Complete, done.Success = done.Start.Add(7*time.Second), true
	page, err := s.Executions(t.Context(), history.ExecutionQuery{Paging: history.Paging{Ascending: true}})
	require.NoError(t, err)
	require.Equal(t, []history.Execution{java, ours, done}, page.Rows)
	page, err = s.Executions(t.Context(), history.ExecutionQuery{Source: job.Scheduled})
	require.NoError(t, err)
	require.Equal(t, 3, page.Total)
	steps, err := s.Statuses(t.Context(), history.StatusQuery{Paging: history.Paging{Ascending: true}})
	require.NoError(t, err)
	require.Equal(t, 2, steps.Total)
	require.Equal(t, history.Status{
		ID: "s1", Job: "orders", TaskID: "t1", SlaveID: "10.0.0.9", Source: "LITE_EXECUTOR", ExecutionType: "READY", ShardingItems: "[3]",
		State: history.Staging, Message: "begin", Time: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
	}, steps.Rows[0])

	require.NoError(t, s.Prepare(t.Context()), "its indexes are made: PostgreSQL may end who drops a table meanwhile")
	exec(t, db, "DROP TABLE JOB_STATUS_TRACE_LOG")
	exec(t, db, "CREATE TABLE JOB_STATUS_TRACE_LOG (id VARCHAR(40) PRIMARY KEY)")
	require.ErrorContains(t, p.over(t, db).Prepare(t.Context()), "table JOB_STATUS_TRACE_LOG has no column job_name")
}

// What Java's console asks, and Java's lookup of a task's origin, is answered.
func testConsoleQueries(t *testing.T, p place) {
	s, db := p.store(t)
	at := begin.Truncate(time.Second)
	for n := range 25 {
		e := started(n, at.Add(time.Duration(n)*time.Minute))
		r := round(e.Start)
		r.ID = strconv.Itoa(n)
		write(t, s, r.Staged(), e, e.Ended(e.Start.Add(time.Second), map[bool]error{true: errors.New("no")}[n%5 == 0], nil), r.End())
	}
	ask := func(query string, args ...any) (answer []string) {
		t.Helper()
		rows, err := db.QueryContext(t.Context(), p.bound(query), args...)
		require.NoError(t, err, query)
		defer rows.Close()
		for rows.Next() {
			names, err := rows.Columns()
			require.NoError(t, err)
			cells, into := make([]sql.NullString, len(names)), make([]any, len(names))
			for i := range cells {
				into[i] = &cells[i]
			}
			require.NoError(t, rows.Scan(into...))
			var line []string
			for i, cell := range cells {
				if !strings.HasSuffix(names[i], "_time") && names[i] != "id" {
					line = append(line, cell.String)
				}
			}
			answer = append(answer, strings.Join(line, "|"))
		}
		require.NoError(t, rows.Err())
		return answer
	}
	const executionFields = "id, hostname, ip, task_id, job_name, execution_source, sharding_item, start_time, complete_time, is_success, failure_cause"
	page := " LIMIT 10 OFFSET 10"
	if p.dialect == sqlstore.MySQL {
		page = " LIMIT 10,10"
	}
	filter := " FROM JOB_EXECUTION_LOG WHERE 1=1 AND job_name=? AND ip=? AND is_success=? AND start_time>=? AND start_time<=?"
	args := []any{"orders", "10.0.0.1", "1", "2026-03-01 10:02:00.000", "2026-03-01 10:23:00.000"}
	require.Equal(t, []string{"18"}, ask("SELECT COUNT(1)"+filter, args...))
	got := ask("SELECT "+executionFields+filter+" ORDER BY start_time DESC"+page, args...)
	require.Len(t, got, 8)
	const task = "orders@-@0,1@-@READY@-@10.0.0.1@-@42"
	require.Equal(t, "host-1|10.0.0.1|"+task+"|orders|NORMAL_TRIGGER|11|1|", got[0])
	require.Equal(t, "host-1|10.0.0.1|"+task+"|orders|NORMAL_TRIGGER|2|1|", got[7])
	failed := ask("SELECT "+executionFields+" FROM JOB_EXECUTION_LOG WHERE 1=1 AND is_success=? ORDER BY job_name ASC, start_time ASC", "0")
	require.Len(t, failed, 5)
	require.Equal(t, "host-1|10.0.0.1|"+task+"|orders|NORMAL_TRIGGER|0|0|no", failed[0])

	got = ask("SELECT id, job_name, original_task_id, task_id, slave_id, source, execution_type, sharding_item, state, creation_time, message "+
		"FROM JOB_STATUS_TRACE_LOG WHERE 1=1 AND job_name=? AND source=? AND execution_type=? AND state=? ORDER BY creation_time DESC"+page,
		"orders", "LITE_EXECUTOR", "READY", "TASK_STAGING")
	require.Len(t, got, 10)
	require.Equal(t, "orders||"+task+"|10.0.0.1|LITE_EXECUTOR|READY|[0, 1]|TASK_STAGING|Job 'orders' execute begin.", got[0])
	require.Equal(t, []string{""}, ask("SELECT original_task_id FROM JOB_STATUS_TRACE_LOG WHERE task_id=? AND state=? LIMIT 1", task, "TASK_STAGING"))
}
