package sqlstore

import (
	"fmt"
	"strings"
)

// table is one of the two, with its columns in order.
type table struct {
	name    string // upper case, and never quoted, as Java writes it
	columns []column
	indexes []index
	time    string          // the column that retention and queries go by
	ties    map[bool]string // the order of rows where a query gives none, by whether it is ascending
}

type column struct {
	name, kind string
	ours       bool // added to Java's
}

type index struct{ name, columns string }

const timestamp = "timestamp" // the kind of a column of time, which each dialect writes in its own way

var executions = table{
	name: "JOB_EXECUTION_LOG",
	columns: []column{
		{name: "id", kind: "VARCHAR(40) NOT NULL"},
		{name: "job_name", kind: "VARCHAR(100) NOT NULL"},
		{name: "task_id", kind: "VARCHAR(255) NOT NULL"},
		{name: "hostname", kind: "VARCHAR(255) NOT NULL"},
		{name: "ip", kind: "VARCHAR(50) NOT NULL"},
		{name: "sharding_item", kind: "INT NOT NULL"},
		{name: "execution_source", kind: "VARCHAR(20) NOT NULL"},
		{name: "failure_cause", kind: "VARCHAR(4000) NULL"},
		{name: "is_success", kind: "INT NOT NULL"},
		{name: "start_time", kind: timestamp},
		{name: "complete_time", kind: timestamp},
		{name: "round_id", kind: "VARCHAR(40) NULL", ours: true},
		{name: "fire_time", kind: timestamp, ours: true},
		{name: "fencing_token", kind: "BIGINT NULL", ours: true},
	},
	indexes: []index{
		{"JOB_EXECUTION_TIME_INDEX", "start_time"},
		{"JOB_EXECUTION_JOB_INDEX", "job_name, start_time"},
		{"JOB_EXECUTION_ROUND_INDEX", "round_id"},
	},
	time: "start_time",
	ties: map[bool]string{true: "sharding_item ASC", false: "sharding_item DESC"},
}

var statuses = table{
	name: "JOB_STATUS_TRACE_LOG",
	columns: []column{
		{name: "id", kind: "VARCHAR(40) NOT NULL"},
		{name: "job_name", kind: "VARCHAR(100) NOT NULL"},
		{name: "original_task_id", kind: "VARCHAR(255) NOT NULL"},
		{name: "task_id", kind: "VARCHAR(255) NOT NULL"},
		{name: "slave_id", kind: "VARCHAR(50) NOT NULL"},
		{name: "source", kind: "VARCHAR(50) NOT NULL"},
		{name: "execution_type", kind: "VARCHAR(20) NOT NULL"},
		{name: "sharding_item", kind: "VARCHAR(100) NOT NULL"},
		{name: "state", kind: "VARCHAR(20) NOT NULL"},
		{name: "message", kind: "VARCHAR(4000) NULL"},
		{name: "creation_time", kind: timestamp},
		{name: "round_id", kind: "VARCHAR(40) NULL", ours: true},
	},
	indexes: []index{
		{"TASK_ID_STATE_INDEX", "task_id, state"}, // Java's
		{"JOB_STATUS_TIME_INDEX", "creation_time"},
		{"JOB_STATUS_JOB_INDEX", "job_name, creation_time"},
		{"JOB_STATUS_ROUND_INDEX", "round_id"},
	},
	time: "creation_time",
	// The steps of a round may share a time. Their names, read backwards, are in the order of steps.
	ties: map[bool]string{true: "state DESC", false: "state ASC"},
}

func (t table) names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

// define returns a column as a statement declares it.
func (d dialect) define(c column) string {
	if c.kind == timestamp {
		return c.name + " " + d.timestamp + " NULL"
	}
	return c.name + " " + c.kind
}

// create makes the table if there is none.
func (d dialect) create(t table) string {
	var text strings.Builder
	text.WriteString("CREATE TABLE IF NOT EXISTS " + t.name + " (")
	for _, c := range t.columns {
		text.WriteString(d.define(c) + ", ")
	}
	return text.String() + "PRIMARY KEY (id))" + d.tableEnd
}

// upsert writes so many rows. The start of an execution never changes a row that is there; its end, or
// a copy of it, always does. A step of a round is written once.
func (d dialect) upsert(t table, rows int) string {
	row := "(" + strings.Repeat("?, ", len(t.columns)-1) + "?)"
	statement := "INSERT INTO " + t.name + " (" + strings.Join(t.names(), ", ") + ") VALUES " +
		strings.Repeat(row+", ", rows-1) + row + " "
	if t.name != executions.name {
		return d.bind(statement + d.ignore)
	}
	inserted := func(column string) string { return fmt.Sprintf(d.inserted, column) }
	var changes []string
	for _, c := range []string{"is_success", "failure_cause", "complete_time"} {
		changes = append(changes, fmt.Sprintf("%s = CASE WHEN %s IS NULL THEN %s.%s ELSE %s END",
			c, inserted("complete_time"), t.name, c, inserted(c)))
	}
	return d.bind(statement + d.onConflict + strings.Join(changes, ", "))
}
