package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/texts"
)

// Write stores events in one transaction. After an error, they may or may not be stored, and writing all of them again
// does no harm.
func (s *Store) Write(ctx context.Context, events []history.Event) error {
	if err := s.Prepare(ctx); err != nil {
		return err
	}
	err := s.writeAll(ctx, events, texts.Clean)
	if err == nil || ctx.Err() != nil || s.db.PingContext(ctx) != nil {
		return err
	}
	waited := false
	return s.writeRefused(ctx, events, err, &waited)
}

// again is how long the first refused event waits until it is tried once more as it is: what others had locked may be free
// by then.
const again = 200 * time.Millisecond

// writeRefused stores events that a database which answers has refused together: by halves, so that a batch with one event
// that is refused takes some twenty transactions, and not one for each event. An event that is refused alone is stored in
// plain characters, if it has others; if even that is refused, the trouble is not the event.
func (s *Store) writeRefused(ctx context.Context, events []history.Event, refused error, waited *bool) error {
	if len(events) <= 1 {
		return s.writePlain(ctx, events, refused, waited)
	}
	middle := len(events) / 2
	for _, half := range [][]history.Event{events[:middle], events[middle:]} {
		err := s.writeAll(ctx, half, texts.Clean)
		if err != nil && ctx.Err() == nil {
			err = s.writeRefused(ctx, half, err, waited)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writePlain stores the one event that is refused.
func (s *Store) writePlain(ctx context.Context, one []history.Event, refused error, waited *bool) error {
	if len(one) == 0 || s.isPlain(one[0]) {
		return refused
	}
	if !*waited {
		*waited = true
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return refused
		}
		if refused = s.writeAll(ctx, one, texts.Clean); refused == nil {
			return nil
		}
	}
	if err := s.writeAll(ctx, one, plain); err != nil {
		return err
	}
	s.log.WarnContext(ctx, "an event was stored in plain characters, since the database refused it as it was", "error", refused)
	return nil
}

// isPlain tells whether an event has plain characters alone.
func (s *Store) isPlain(e history.Event) bool {
	switch e := e.(type) {
	case history.Execution:
		return slices.Equal(s.executionRow(e, texts.Clean), s.executionRow(e, plain))
	case history.Status:
		return slices.Equal(s.statusRow(e, texts.Clean), s.statusRow(e, plain))
	default:
		return true
	}
}

// maxRows bounds a statement. Statements have few different lengths, so that a database can keep them
// prepared.
const maxRows = 256

func (s *Store) writeAll(ctx context.Context, events []history.Event, text func(string, int) string) error {
	items, steps := latestOf(events)
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
		defer tx.Rollback() //nolint:errcheck // does nothing after a commit
		if err := s.upsert(ctx, tx, executions, itemRows); err != nil {
			return err
		}
		if err := s.upsert(ctx, tx, statuses, stepRows); err != nil {
			return err
		}
		return tx.Commit()
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
