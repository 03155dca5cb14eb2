package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// deleteChunk is how many rows one statement deletes, so that none holds locks for long.
const deleteChunk = 1000

// DeleteBefore deletes executions that started and steps that were taken before a time, a thousand by a
// thousand, and returns how many rows are gone. After an error, or the end of ctx, some may be.
func (s *Store) DeleteBefore(ctx context.Context, before time.Time) (int64, error) {
	if err := s.Prepare(ctx); err != nil {
		return 0, err
	}
	var all int64
	for _, t := range []table{executions, statuses} {
		for {
			n, err := s.deleteChunk(ctx, t, before)
			all += n
			if err != nil {
				return all, fmt.Errorf("delete from %s: %w", t.name, err)
			}
			if n < deleteChunk {
				break
			}
		}
	}
	return all, nil
}

func (s *Store) deleteChunk(ctx context.Context, t table, before time.Time) (n int64, err error) {
	old := t.time + " < ? LIMIT ?"
	statement := "DELETE FROM " + t.name + " WHERE id IN (SELECT id FROM " + t.name + " WHERE " + old + ")"
	if s.dialect.deleteLimit {
		statement = "DELETE FROM " + t.name + " WHERE " + old
	}
	err = s.session(ctx, func(conn *sql.Conn) error {
		result, err := conn.ExecContext(ctx, s.dialect.bind(statement), s.time(before), deleteChunk)
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}

// Retain deletes what is older than keep, now and then every so often, until ctx ends. A database that is
// away is logged, and asked again at the next time. Several processes may do it.
func (s *Store) Retain(ctx context.Context, keep, every time.Duration) error {
	if keep <= 0 || every <= 0 {
		return fmt.Errorf("%w: keep %s and every %s must be positive", ErrInvalidOption, keep, every)
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		n, err := s.DeleteBefore(ctx, time.Now().Add(-keep))
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			s.log.WarnContext(ctx, "old events could not be deleted, will try again", "error", err, "deleted", n)
		case n > 0:
			s.log.InfoContext(ctx, "deleted old events", "deleted", n)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}
