package sqlstore

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
)

// where gathers conditions.
type where struct {
	conditions []string
	args       []any
}

// add adds a condition. Texts are asked for as they are stored: PostgreSQL refuses a query that has others.
func (w *where) add(condition string, args ...any) {
	w.conditions = append(w.conditions, condition)
	for _, arg := range args {
		if text, is := arg.(string); is {
			arg = texts.Clean(text, len(text))
		}
		w.args = append(w.args, arg)
	}
}

// equal adds a condition if the text says something.
func (w *where) equal(column, text string) {
	if text != "" {
		w.add(column+" = ?", text)
	}
}

// same adds a condition that what is in a column is the text, as it is stored, if that says something. An index finds what the
// database takes for equal, and of that the very text counts.
func (w *where) same(d dialect, column, text string) {
	w.equal(column, text)
	if text != "" && d.exactly != "" {
		w.add(fmt.Sprintf(d.exactly, column, "?"), text)
	}
}

// ends adds a condition that a task id ends in an instance, if one is given. LIKE passes over case in most databases.
func (w *where) ends(d dialect, column, instance string) {
	if instance != "" {
		text := history.BeforeInstance + instance
		text = texts.Clean(text, len(text))
		w.same(d, fmt.Sprintf(d.last, column, utf8.RuneCountInString(text)), text)
	}
}

// source adds a condition on why an execution runs. A run by hand is one of the scheduler's without a
// fire; rows of Java have no round.
func (w *where) source(s job.Source) {
	switch s {
	case "":
	case job.Manual:
		w.add("execution_source = ? AND fire_time IS NULL AND round_id IS NOT NULL", s.Trace())
	case job.Scheduled:
		w.add("execution_source = ? AND (fire_time IS NOT NULL OR round_id IS NULL)", s.Trace())
	default:
		w.add("execution_source = ?", s.Trace())
	}
}

// between adds conditions on a time, both ends inclusive.
func (w *where) between(s *Store, column string, from, until time.Time) {
	if !from.IsZero() {
		w.add(column+" >= ?", s.time(from))
	}
	if !until.IsZero() {
		w.add(column+" <= ?", s.time(until))
	}
}

func (w *where) text() string {
	if len(w.conditions) == 0 {
		return ""
	}
	return " WHERE " + strings.Join(w.conditions, " AND ")
}
