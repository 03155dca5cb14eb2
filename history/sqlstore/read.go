package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/texts"
)

// Executions implements [history.Reader].
func (s *Store) Executions(ctx context.Context, q history.ExecutionQuery) (history.Page[history.Execution], error) {
	var w where
	w.same(s.dialect, "job_name", texts.Clean(q.Job, history.MaxJobName))
	w.equal("round_id", q.Round)
	w.same(s.dialect, "task_id", texts.ShortTaskID(q.TaskID))
	w.equal("ip", q.IP)
	w.ends(s.dialect, "task_id", q.Instance)
	if q.Item != nil {
		w.add("sharding_item = ?", *q.Item)
	}
	if q.Success != nil {
		w.add("is_success = ?", map[bool]int{false: 0, true: 1}[*q.Success])
	}
	if q.Running != nil {
		w.add("complete_time IS " + map[bool]string{false: "NOT NULL", true: "NULL"}[*q.Running])
	}
	w.source(q.Source)
	w.between(s, executions.time, q.From, q.Until)
	return read(ctx, s, executions, w, q.Paging, history.ExecutionSorts(), s.scanExecution)
}

// Statuses implements [history.Reader].
func (s *Store) Statuses(ctx context.Context, q history.StatusQuery) (history.Page[history.Status], error) {
	var w where
	w.same(s.dialect, "job_name", texts.Clean(q.Job, history.MaxJobName))
	w.equal("round_id", q.Round)
	w.same(s.dialect, "task_id", texts.ShortTaskID(q.TaskID))
	w.equal("source", q.Source)
	w.equal("execution_type", q.ExecutionType)
	w.equal("state", string(q.State))
	w.between(s, statuses.time, q.From, q.Until)
	return read(ctx, s, statuses, w, q.Paging, history.StatusSorts(), s.scanStatus)
}

// read returns a page of a table and counts all rows that match.
func read[E history.Event](ctx context.Context, s *Store, t table, w where, p history.Paging, sorts []string,
	scan func(*sql.Rows) (E, error),
) (page history.Page[E], err error) {
	tail, args, err := paging(t, p, sorts)
	if err != nil {
		return page, err
	}
	if err := s.ready(ctx); err != nil {
		return page, err
	}
	query := s.dialect.bind("SELECT " + strings.Join(t.names(), ", ") + " FROM " + t.name + w.text() + tail)
	count := s.dialect.bind("SELECT COUNT(*) FROM " + t.name + w.text())
	err = s.session(ctx, func(conn *sql.Conn) error {
		if err := conn.QueryRowContext(ctx, count, w.args...).Scan(&page.Total); err != nil {
			return err
		}
		rows, err := conn.QueryContext(ctx, query, append(slices.Clip(w.args), args...)...)
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // read to the end, or another error counts
		for rows.Next() {
			e, err := scan(rows)
			if err != nil {
				return err
			}
			page.Rows = append(page.Rows, e)
		}
		return rows.Err()
	})
	if err != nil {
		s.doubtTables(ctx)
		return history.Page[E]{}, fmt.Errorf("read %s: %w", t.name, err)
	}
	return page, nil
}

// paging returns the end of a query: its order and its page.
func paging(t table, p history.Paging, sorts []string) (tail string, args []any, err error) {
	page, per := p.Page, p.PerPage
	if page == 0 {
		page = 1
	}
	if per == 0 {
		per = history.DefaultPerPage
	}
	if page < 1 || page > 1<<30 {
		return "", nil, fmt.Errorf("%w: page %d is not 1 to %d", history.ErrInvalidQuery, p.Page, 1<<30)
	}
	if per < 1 || per > history.MaxPerPage {
		return "", nil, fmt.Errorf("%w: %d rows per page are not 1 to %d", history.ErrInvalidQuery, p.PerPage, history.MaxPerPage)
	}
	by := t.time
	if p.Sort != "" {
		if !slices.Contains(sorts, p.Sort) {
			return "", nil, fmt.Errorf("%w: sort %q is none of %s", history.ErrInvalidQuery, p.Sort, strings.Join(sorts, ", "))
		}
		by = snake(p.Sort)
	}
	direction := " DESC"
	if p.Ascending {
		direction = " ASC"
	}
	return " ORDER BY " + by + direction + ", " + t.ties[p.Ascending] + ", id" + direction + " LIMIT ? OFFSET ?",
		[]any{per, (page - 1) * per}, nil
}

// snake turns "startTime" into "start_time".
func snake(camel string) string {
	var name strings.Builder
	for _, r := range camel {
		if r >= 'A' && r <= 'Z' {
			name.WriteByte('_')
			r += 'a' - 'A'
		}
		name.WriteRune(r)
	}
	return name.String()
}

func (s *Store) scanExecution(rows *sql.Rows) (e history.Execution, err error) {
	var word string
	var cause, round sql.NullString
	var success int
	var token sql.NullInt64
	start, complete, fire := s.instant(&e.Start), s.instant(&e.Complete), s.instant(&e.Fire)
	err = rows.Scan(&e.ID, &e.Job, &e.TaskID, &e.Hostname, &e.IP, &e.Item, &word, &cause, &success, start, complete,
		&round, fire, &token)
	e.FailureCause, e.Round, e.Success, e.Token = cause.String, round.String, success != 0, token.Int64
	e.Source = source(word, e.Round != "" && e.Fire.IsZero())
	return e, err
}

func (s *Store) scanStatus(rows *sql.Rows) (e history.Status, err error) {
	var message, round sql.NullString
	err = rows.Scan(&e.ID, &e.Job, &e.OriginalTaskID, &e.TaskID, &e.SlaveID, &e.Source, &e.ExecutionType, &e.ShardingItems,
		&e.State, &message, s.instant(&e.Time), &round)
	e.Message, e.Round = message.String, round.String
	return e, err
}

// instant reads a time, whatever the driver makes of it, into t, in UTC.
func (s *Store) instant(t *time.Time) *instant { return &instant{into: t, location: s.location} }

type instant struct {
	into     *time.Time
	location *time.Location
}

// Scan implements [sql.Scanner]. A driver that answers with a time has put the wall clock that is stored
// into a zone of its own choice.
func (i *instant) Scan(value any) error {
	var err error
	switch v := value.(type) {
	case nil:
		*i.into = time.Time{}
		return nil
	case time.Time:
		*i.into = time.Date(v.Year(), v.Month(), v.Day(), v.Hour(), v.Minute(), v.Second(), v.Nanosecond(), i.location)
	case []byte:
		*i.into, err = time.ParseInLocation("2006-01-02 15:04:05", string(v), i.location)
	case string:
		*i.into, err = time.ParseInLocation("2006-01-02 15:04:05", v, i.location)
	default:
		err = fmt.Errorf("a time came as %T", value)
	}
	*i.into = i.into.UTC()
	return err
}
