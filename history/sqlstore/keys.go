package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// ErrNoKey is the error of [Store.Prepare] and [Store.Write] if a table that somebody else has made has no unique key on id.
// PostgreSQL and SQLite refuse to write to it what may be there already, and MySQL would store that once more.
var ErrNoKey = errors.New("the table has no unique key on id")

// needKeys looks whether the events of both tables are told apart by their ids. Who only reads or deletes can do without.
func (s *Store) needKeys(ctx context.Context) error {
	if s.keyed.Load() {
		return nil
	}
	err := within(ctx, lookTime, func(ctx context.Context) error {
		return s.session(ctx, func(conn *sql.Conn) error {
			for _, t := range []table{executions, statuses} {
				var lacking int
				args := []any{strings.ToLower(t.name)}
				if s.dialect.keyHasTime {
					args = append(args, t.time)
				}
				if err := conn.QueryRowContext(ctx, s.dialect.bind(s.dialect.keyless), args...).Scan(&lacking); err != nil {
					return fmt.Errorf("look for the key of table %s: %w", t.name, err)
				}
				if lacking > 0 {
					return fmt.Errorf("table %s: %w: delete rows that are there twice, and add a unique key on id", t.name, ErrNoKey)
				}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	s.keyed.Store(true)
	return nil
}
