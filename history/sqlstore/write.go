package sqlstore

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
)

// Write stores events in one transaction. After an error, they may or may not be stored, and writing all of them again
// does no harm. A [*history.RejectedError] counts the events that the tables cannot hold: the others are stored.
func (s *Store) Write(ctx context.Context, events []history.Event) error {
	if err := s.writable(ctx); err != nil {
		return err
	}
	left := s.unrefused(events)
	err := s.writeAll(ctx, left, texts.Clean)
	r := &refusals{newest: make(map[string]history.Event), asked: make(map[string]bool), count: len(events) - len(left)}
	if err != nil && ctx.Err() == nil && s.db.PingContext(ctx) == nil {
		err = s.writeApart(ctx, left, err, r)
	}
	if err != nil {
		s.doubtTables(ctx)
		return err
	}
	if r.count == 0 {
		return nil
	}
	s.forget(events)
	if r.last == nil {
		r.last = errRefusedBefore
	}
	return &history.RejectedError{Count: r.count, Err: r.last}
}

// again is how long the first refused event waits until it is tried once more as it is: what others had locked may be free
// by then.
const again = 200 * time.Millisecond

// errRefusedBefore is why events are rejected that a Write has refused which did not get to its end.
var errRefusedBefore = errors.New("the tables cannot hold them")

// refusals is what a Write learns of the events that are refused.
type refusals struct {
	waited bool                     // until others let go of what they may have locked
	newest map[string]history.Event // by table: the newest that it has taken
	asked  map[string]bool          // by table: whether it took a row of now when it was asked
	count  int                      // of events that the tables cannot hold
	last   error                    // why
	doubts []doubt                  // refused events of a table that may be out of order
}

// doubt is an event that its table refuses, of which nothing shows that the table takes others of its time.
type doubt struct {
	event history.Event
	err   error
}

// mostDoubts bounds how many events a table is asked to take that takes none.
const mostDoubts = 16

// settleDoubts counts the events in doubt whose tables take others, as was seen since. Of the other ones, it returns why they
// were refused.
func (s *Store) settleDoubts(ctx context.Context, r *refusals) error {
	doubts := r.doubts
	r.doubts = nil
	clear(r.asked) // what was stored since may be a row to copy
	for _, d := range doubts {
		if !s.takesOthers(ctx, d.event, r) {
			return d.err
		}
		r.refuse(d.err)
	}
	return nil
}

// refuse counts an event that the tables cannot hold.
func (r *refusals) refuse(err error) { r.count, r.last = r.count+1, err }

// took notes that a table has taken an event.
func (r *refusals) took(e history.Event) {
	if t := tableOf(e); r.newest[t] == nil || asNew(e, r.newest[t]) {
		r.newest[t] = e
	}
}

// asNew tells whether an event is as new as another one of its table, or newer, in all its times.
func asNew(e, as history.Event) bool {
	switch e := e.(type) {
	case history.Execution:
		as := as.(history.Execution)
		return !e.Start.Before(as.Start) && (as.Running() || !e.Running() && !e.Complete.Before(as.Complete))
	case history.Status:
		return !e.Time.Before(as.(history.Status).Time)
	default:
		return false
	}
}

// writeApart stores events that a database which answers has refused together: those of one table first, and then those of
// the other, since one may be out of order, and is no reason to have the other wait.
func (s *Store) writeApart(ctx context.Context, events []history.Event, refused error, r *refusals) (err error) {
	for _, t := range []string{executions.name, statuses.name, ""} {
		of := slices.DeleteFunc(slices.Clone(events), func(e history.Event) bool { return tableOf(e) != t })
		if len(of) == 0 {
			continue
		}
		failed := s.writeRefused(ctx, of, refused, r)
		if failed == nil {
			failed = s.settleDoubts(ctx, r)
		}
		r.doubts = nil
		if err == nil {
			err = failed
		}
	}
	return err
}

// writeRefused stores events that a database which answers has refused together: by halves, so that a batch with one event
// that is refused takes some twenty transactions, and not one for each event.
func (s *Store) writeRefused(ctx context.Context, events []history.Event, refused error, r *refusals) error {
	if len(events) <= 1 {
		return s.writeOne(ctx, events, refused, r)
	}
	middle := len(events) / 2
	for _, half := range [][]history.Event{events[:middle], events[middle:]} {
		err := s.writeAll(ctx, half, texts.Clean)
		switch {
		case err == nil:
			for _, e := range half {
				r.took(e)
			}
		case ctx.Err() == nil:
			err = s.writeRefused(ctx, half, err, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// forms are how an event is stored that the database says it cannot take as it is, one after the other.
var forms = []struct {
	text func(text string, limit int) string
	tell func(ctx context.Context, log *slog.Logger, refused error)
}{
	{plain, func(ctx context.Context, log *slog.Logger, refused error) {
		log.WarnContext(ctx, "an event was stored in plain characters, since the database refused it as it was", "error", refused)
	}},
	{short, func(ctx context.Context, log *slog.Logger, refused error) {
		log.WarnContext(ctx, "an event was stored with a short text, since the database refused it as it was", "error", refused)
	}},
}

// writeOne stores the one event that is refused. If the database says that it cannot take the event, in plain characters or with
// a short text, if that makes a difference. If even that is refused, the trouble is the event if its table takes other rows; then
// the event is counted and left out, or nothing behind it would ever be stored. Anything else is returned, as it may pass: a lock
// that ends meanwhile, or a row of which only a short one fits the disk, must not have the event stored under another job's name.
func (s *Store) writeOne(ctx context.Context, one []history.Event, refused error, r *refusals) error {
	if len(one) == 0 || tableOf(one[0]) == "" {
		return refused
	}
	if !r.waited {
		r.waited = true
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return refused
		}
		if refused = s.writeAll(ctx, one, texts.Clean); refused == nil {
			r.took(one[0])
			return nil
		}
	}
	last, before := refused, s.rowOf(one[0], texts.Clean)
	for _, form := range forms {
		if !s.dialect.isOfRow(last) {
			break
		}
		now := s.rowOf(one[0], form.text)
		if slices.Equal(now, before) {
			continue
		}
		before = now
		if last = s.writeAll(ctx, one, form.text); last == nil {
			form.tell(ctx, s.log, refused)
			r.took(one[0])
			return nil
		}
	}
	switch {
	case ctx.Err() != nil || !s.dialect.isOfRow(last):
		return last
	case s.takesOthers(ctx, one[0], r):
		r.refuse(last)
		s.remember(one[0])
	case len(r.doubts) < mostDoubts:
		r.doubts = append(r.doubts, doubt{one[0], last})
	default:
		return last
	}
	return nil
}

// takesOthers tells whether the table of an event that it refuses takes others all the same: one that is as new, or a row of now.
// An older one shows nothing: where tables are partitioned by time, or a constraint goes by it, those of yesterday may be taken
// while today's partition is missing, and what is of today must wait for it.
func (s *Store) takesOthers(ctx context.Context, e history.Event, r *refusals) bool {
	t := tableOf(e)
	if taken := r.newest[t]; taken != nil && asNew(taken, e) {
		return true
	}
	takes, asked := r.asked[t]
	if !asked {
		takes = s.takesMadeUp(ctx, t) || s.takesCopy(ctx, t)
		r.asked[t] = takes
	}
	return takes
}

// takesMadeUp tells whether a table takes a row of now that nothing can be said against. The row is not kept.
func (s *Store) takesMadeUp(ctx context.Context, name string) bool {
	probe, now := rand.Text(), time.Now()
	items := []history.Execution{{ID: probe, Job: "probe", Source: job.Scheduled, Start: now, Complete: now, Success: true}}
	var steps []history.Status
	if name == statuses.name {
		items, steps = nil, []history.Status{{ID: probe, Job: "probe", State: history.Staging, Time: now}}
	}
	return s.transact(ctx, items, steps, texts.Clean, func(tx *sql.Tx) error {
		// For tables without transactions, which MySQL may have. It need not be allowed.
		_, _ = tx.ExecContext(ctx, s.dialect.bind("DELETE FROM "+name+" WHERE id = ?"), probe)
		return tx.Rollback()
	}) == nil
}

// takesCopy tells whether a table takes a copy of its newest row, with the times of now: a constraint may be kept by rows that are
// there, and by none that is made up, as of the names of jobs, or that an end comes after its start. The copy is not kept.
func (s *Store) takesCopy(ctx context.Context, name string) (takes bool) {
	t := executions
	if name == statuses.name {
		t = statuses
	}
	probe, now := rand.Text(), time.Now()
	columns, values, args := []string{"id"}, []string{"?"}, []any{probe}
	for _, c := range t.names()[1:] {
		value := c
		switch c {
		case t.time:
			value, args = "?", append(args, s.time(now))
		case "complete_time":
			value, args = "?", append(args, s.time(now.Add(time.Second))) // also of one that runs: ends may be what is refused
		case "fire_time":
			value, args = "CASE WHEN fire_time IS NULL THEN fire_time ELSE ? END", append(args, s.time(now.Add(-time.Second)))
		}
		columns, values = append(columns, c), append(values, value)
	}
	_ = s.session(ctx, func(conn *sql.Conn) error {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // nothing of it is to stay
		result, err := tx.ExecContext(ctx, s.dialect.bind("INSERT INTO "+name+" ("+strings.Join(columns, ", ")+") SELECT "+
			strings.Join(values, ", ")+" FROM "+name+" ORDER BY "+t.time+" DESC LIMIT 1"), args...)
		if err != nil {
			return err
		}
		n, err := result.RowsAffected()
		takes = err == nil && n == 1
		_, _ = tx.ExecContext(ctx, s.dialect.bind("DELETE FROM "+name+" WHERE id = ?"), probe) // as above
		return nil
	})
	return takes
}

// mostRefused bounds what is remembered of batches that are never finished.
const mostRefused = 4096

// remember notes that an event was refused for good. If the rest of its batch cannot be stored in time, the batch comes again,
// and must not begin anew with finding out what is refused: on a slow link it might never get further.
func (s *Store) remember(e history.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refused) >= mostRefused {
		s.refused = nil
	}
	if s.refused == nil {
		s.refused = make(map[string]bool)
	}
	s.refused[keyOf(e)] = true
}

// unrefused returns the events that were not refused for good.
func (s *Store) unrefused(events []history.Event) []history.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refused) == 0 {
		return events
	}
	return slices.DeleteFunc(slices.Clone(events), func(e history.Event) bool { return s.refused[keyOf(e)] })
}

// forget is for a batch of which everything is known.
func (s *Store) forget(events []history.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range events {
		delete(s.refused, keyOf(e))
	}
}

// keyOf is different for every event.
func keyOf(e history.Event) string {
	switch e := e.(type) {
	case history.Execution:
		return fmt.Sprint("execution ", e.Running(), " ", e.ID)
	case history.Status:
		return "status " + e.ID
	default:
		return ""
	}
}

// tableOf returns the name of the table of an event; empty if it is of another kind.
func tableOf(e history.Event) string {
	switch e.(type) {
	case history.Execution:
		return executions.name
	case history.Status:
		return statuses.name
	default:
		return ""
	}
}

func (s *Store) rowOf(e history.Event, text func(string, int) string) row {
	switch e := e.(type) {
	case history.Execution:
		return s.executionRow(e, text)
	case history.Status:
		return s.statusRow(e, text)
	default:
		return nil
	}
}

// maxRows bounds a statement. Statements have few different lengths, so that a database can keep them
// prepared.
const maxRows = 256

func (s *Store) writeAll(ctx context.Context, events []history.Event, text func(string, int) string) error {
	items, steps := latestOf(events)
	return s.transact(ctx, items, steps, text, (*sql.Tx).Commit)
}

// transact writes events in one transaction, and ends it.
func (s *Store) transact(ctx context.Context, items []history.Execution, steps []history.Status, text func(string, int) string,
	end func(*sql.Tx) error,
) error {
	itemRows, stepRows := make([]row, len(items)), make([]row, len(steps))
	for i, e := range items {
		itemRows[i] = s.executionRow(e, text)
	}
	for i, e := range steps {
		stepRows[i] = s.statusRow(e, text)
	}
	return s.session(ctx, func(conn *sql.Conn) error {
		tx, err := conn.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() //nolint:errcheck // does nothing after an end
		if err := s.upsert(ctx, tx, executions, itemRows); err != nil {
			return err
		}
		if err := s.upsert(ctx, tx, statuses, stepRows); err != nil {
			return err
		}
		return end(tx)
	})
}

// upsert writes rows in statements of 256, 64, 16, 4 and 1.
func (s *Store) upsert(ctx context.Context, tx *sql.Tx, t table, rows []row) error {
	for size := maxRows; len(rows) > 0; {
		if len(rows) < size {
			size /= 4
			continue
		}
		args := make([]any, 0, size*len(t.columns))
		for _, r := range rows[:size] {
			args = append(args, r...)
		}
		if _, err := tx.ExecContext(ctx, s.dialect.upsert(t, size), args...); err != nil {
			return err
		}
		rows = rows[size:]
	}
	return nil
}

// latestOf parts events by table and leaves one for each id, because a statement must not write a row
// twice: of an execution its newest event, but never a start where there is an end; of a step its first.
func latestOf(events []history.Event) (items []history.Execution, steps []history.Status) {
	at := make(map[string]int, len(events)) // where the event of an id is, among its kind
	for _, e := range events {
		switch e := e.(type) {
		case history.Execution:
			i, there := at["e"+e.ID]
			switch {
			case !there:
				at["e"+e.ID] = len(items)
				items = append(items, e)
			case !e.Running() || items[i].Running():
				items[i] = e
			}
		case history.Status:
			if _, there := at["s"+e.ID]; !there {
				at["s"+e.ID] = len(steps)
				steps = append(steps, e)
			}
		}
	}
	return items, steps
}
