package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// deleteChunk is how many rows one statement deletes, so that none holds locks for long. deleteTime is how long it may take, and
// how long a question before or after it: what takes longer is most likely asked on a connection that is dead.
const (
	deleteChunk = 1000
	deleteTime  = 2 * time.Minute
)

// DeleteBefore deletes the executions that started before a time, and the steps of rounds from before it, a thousand
// rows at once. It returns how many rows it has deleted, also together with an error.
func (s *Store) DeleteBefore(ctx context.Context, before time.Time) (int64, error) {
	if err := s.ready(ctx); err != nil {
		return 0, err
	}
	var all int64
	for _, t := range []table{executions, statuses} {
		n, err := s.deleteOld(ctx, t, before)
		all += n
		if err != nil {
			s.doubtTables(ctx)
			return all, fmt.Errorf("delete from %s: %w", t.name, err)
		}
	}
	return all, nil
}

// How often it is tried to delete rows that stay where they are, and the pause before. Others may hold them, or be about to
// delete them.
const (
	deleteTries = 20
	deletePause = 50 * time.Millisecond
)

// deleteOld deletes a table's rows from before a time until none is left. A chunk that is not full does not tell that: another
// process that deletes the same rows has left nothing of it, and PostgreSQL does not look for others.
func (s *Store) deleteOld(ctx context.Context, t table, before time.Time) (all int64, err error) {
	var stays string
	var conflict error // of the last try
	for tries := 0; tries < deleteTries; {
		n, err := s.deleteChunk(ctx, t, before)
		if all += n; err != nil && !isConflict(err) {
			return all, err
		}
		conflict = err
		if n == deleteChunk {
			continue
		}
		left, err := s.anyOld(ctx, t, before)
		if err != nil && !isConflict(err) || err == nil && left == "" {
			return all, err
		}
		if err == nil && (n > 0 || left != stays) {
			stays, tries = left, 0
			continue
		}
		tries++
		select {
		case <-time.After(deletePause):
		case <-ctx.Done():
			return all, ctx.Err()
		}
	}
	return all, conflict // until the next time
}

// ask is a session that may take deleteTime.
func (s *Store) ask(ctx context.Context, use func(context.Context, *sql.Conn) error) error {
	return within(ctx, deleteTime, func(ctx context.Context) error {
		return s.session(ctx, func(conn *sql.Conn) error { return use(ctx, conn) })
	})
}

// anyOld returns the id of a row from before a time; empty if there is none.
func (s *Store) anyOld(ctx context.Context, t table, before time.Time) (id string, err error) {
	err = s.ask(ctx, func(ctx context.Context, conn *sql.Conn) error {
		query := s.dialect.bind("SELECT id FROM " + t.name + " WHERE " + t.time + " < ? LIMIT 1")
		return conn.QueryRowContext(ctx, query, s.time(before)).Scan(&id)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, err
}

func (s *Store) deleteChunk(ctx context.Context, t table, before time.Time) (n int64, err error) {
	old := t.time + " < ? LIMIT ?"
	statement := "DELETE FROM " + t.name + " WHERE id IN (SELECT id FROM " + t.name + " WHERE " + old + ")"
	if s.dialect.deleteLimit {
		statement = "DELETE FROM " + t.name + " WHERE " + old
	}
	err = s.ask(ctx, func(ctx context.Context, conn *sql.Conn) error {
		result, err := conn.ExecContext(ctx, s.dialect.bind(statement), s.time(before), deleteChunk)
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}

// Retain deletes events that are older than keep, as [Store.Keeps] has it, at once and then again each time that every has
// passed, until ctx ends. If the database is away, or has not answered a statement after two minutes, Retain logs this and tries
// again the next time. It also logs what stays though it is older by this process's clock. Several processes may run it.
func (s *Store) Retain(ctx context.Context, keep, every time.Duration) error {
	if keep <= 0 || every <= 0 {
		return fmt.Errorf("%w: keep %s and every %s must be positive", ErrInvalidOption, keep, every)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	var said limit
	for {
		s.retainOnce(ctx, keep, &said)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// retainOnce deletes what is too old, and logs what it did, unless ctx has ended.
func (s *Store) retainOnce(ctx context.Context, keep time.Duration, said *limit) {
	var n int64
	until, err := s.limit(ctx, keep)
	if err == nil {
		n, err = s.DeleteBefore(ctx, until.before)
	}
	if err == nil {
		err = s.explain(ctx, until, keep, said)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.log.WarnContext(ctx, "old events could not be deleted, will try again", "error", err, "deleted", n)
	case n > 0:
		s.log.InfoContext(ctx, "deleted old events", "deleted", n)
	}
}
