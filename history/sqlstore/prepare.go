package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"slices"
	"strings"
)

// prepareTries is how often the tables are made. Of several processes that do it at once, each fails
// only where another has just made one of the thirteen things that there are to make.
const prepareTries = 16

// Prepare makes the tables, columns and indexes that are missing, and changes nothing that is there. Other methods do this
// by themselves, once, and again after an error. Call Prepare to find out early whether it works, or to do it with other
// rights than those of the process that runs later.
func (s *Store) Prepare(ctx context.Context) error {
	if s.prepared.Load() {
		return nil
	}
	// Not a mutex, which nobody can stop waiting for: whoever has the turn waits for the database, as long as its own
	// context lets it.
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return fmt.Errorf("prepare the tables: another call is about to: %w", ctx.Err())
	}
	if s.prepared.Load() {
		return nil
	}
	var err error
	for range prepareTries {
		if err = s.session(ctx, func(conn *sql.Conn) error { return s.prepare(ctx, conn) }); err == nil {
			s.prepared.Store(true)
			return nil
		}
		if ctx.Err() != nil || s.db.PingContext(ctx) != nil {
			break
		}
	}
	return fmt.Errorf("prepare the tables: %w", err)
}

// doubtTables has the next call look for the tables again: this one failed, and somebody may have dropped them. If its time
// is over, it was not the database that said so.
func (s *Store) doubtTables(ctx context.Context) {
	if ctx.Err() == nil {
		s.prepared.Store(false)
	}
}

func (s *Store) prepare(ctx context.Context, conn *sql.Conn) error {
	for _, t := range []table{executions, statuses} {
		has, err := columnsOf(ctx, conn, t)
		if err != nil {
			if _, err := conn.ExecContext(ctx, s.dialect.create(t)); err != nil {
				return err
			}
			if has, err = columnsOf(ctx, conn, t); err != nil {
				return err
			}
		}
		for _, c := range t.columns {
			if slices.Contains(has, c.name) {
				continue
			}
			if !c.ours {
				return fmt.Errorf("table %s has no column %s", t.name, c.name)
			}
			if _, err := conn.ExecContext(ctx, "ALTER TABLE "+t.name+" ADD COLUMN "+s.dialect.define(c)); err != nil {
				return err
			}
		}
		if err := s.prepareIndexes(ctx, conn, t); err != nil {
			return err
		}
	}
	return nil
}

// columnsOf returns the names of a table's columns, in lower case.
func columnsOf(ctx context.Context, conn *sql.Conn, t table) ([]string, error) {
	rows, err := conn.QueryContext(ctx, "SELECT * FROM "+t.name+" WHERE 1 = 0")
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // it has no rows
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		names[i] = strings.ToLower(name)
	}
	return names, rows.Err()
}

func (s *Store) prepareIndexes(ctx context.Context, conn *sql.Conn, t table) error {
	rows, err := conn.QueryContext(ctx, s.dialect.bind(s.dialect.tablesHave), strings.ToLower(t.name))
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // read to the end
	var has []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return err
		}
		has = append(has, strings.ToUpper(name))
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, i := range t.indexes {
		if slices.Contains(has, i.name) {
			continue
		}
		if _, err := conn.ExecContext(ctx, "CREATE INDEX "+i.name+" ON "+t.name+" ("+i.columns+")"); err != nil {
			return err
		}
	}
	return nil
}

// discard has the pool throw a connection away.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // returns what it is given
}
