package sqlstore

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// prepareTries is how often the tables are made. Of several processes that do it at once, each fails
// only where another has just made one of the thirteen things that there are to make.
const prepareTries = 16

// How long the database has for an answer, however long the caller would wait: a connection that a proxy or a firewall has
// dropped without a word brings neither an answer nor an error.
const (
	lookTime  = 30 * time.Second // what there is of the tables
	makeTime  = time.Hour        // what is missing: a column of tables that Java has filled may take long
	indexTime = 24 * time.Hour   // the indexes of such tables, for which nobody waits
)

// errNoAnswer is the error of a database that has not answered in time.
var errNoAnswer = errors.New("the database did not answer")

// within asks the database for something that it has a time to answer.
func within(ctx context.Context, d time.Duration, ask func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	err := ask(bounded)
	if err != nil && bounded.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w within %s: %w", errNoAnswer, d, err)
	}
	return err
}

// Prepare makes the tables, columns and indexes that are missing, and changes nothing that is there. Other methods do this
// by themselves, once, and again after an error, and do not wait for indexes of tables that have rows. Call Prepare to find out
// early whether it works, or to do it with other rights than those of the process that runs later. If ctx ends while the indexes
// are made, that goes on. Columns that take the database more than an hour, and indexes that take more than a day, make by hand.
// Of a table without a key that tells events apart by their id, the error is [ErrNoKey].
func (s *Store) Prepare(ctx context.Context) error {
	if err := s.writable(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	i := s.indexing
	s.mu.Unlock()
	if i == nil {
		return nil
	}
	select {
	case <-i.done:
	case <-ctx.Done():
		return fmt.Errorf("prepare the tables: their indexes are still being made: %w", ctx.Err())
	}
	if i.err != nil {
		s.prepared.Store(false) // the next call tries again
		return fmt.Errorf("prepare the tables: %w", i.err)
	}
	return nil
}

// writable is ready, for events that are to be stored. Tables that are still to be made will have their keys.
func (s *Store) writable(ctx context.Context) error {
	if err := s.needKeys(ctx); err != nil {
		return fmt.Errorf("prepare the tables: %w", err)
	}
	return s.ready(ctx)
}

// ready is [Store.Prepare] without the indexes of tables that have rows, which another goroutine makes.
func (s *Store) ready(ctx context.Context) error {
	if s.prepared.Load() {
		return nil
	}
	err := within(ctx, lookTime, func(ctx context.Context) error {
		return s.session(ctx, func(conn *sql.Conn) error { return s.complete(ctx, conn) })
	})
	switch {
	case err == nil:
		s.makeBeside(ctx, nil)
		s.prepared.Store(true)
		return nil
	case ctx.Err() != nil || errors.Is(err, errNoAnswer):
		return fmt.Errorf("prepare the tables: %w", err)
	}
	// Not a mutex, which nobody can stop waiting for: whoever has the turn waits for the database. Where nothing is missing, nobody
	// takes it, so that none stands still behind one whose connection is silent.
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return fmt.Errorf("prepare the tables: another call is about to: %w", ctx.Err())
	}
	if s.prepared.Load() {
		return nil
	}
	if err := within(ctx, makeTime, s.prepareInTurn); err != nil {
		return fmt.Errorf("prepare the tables: %w", err)
	}
	s.prepared.Store(true)
	return nil
}

// prepareInTurn makes what is missing, for who has the turn: on a connection that does not answer, it is given back soon.
func (s *Store) prepareInTurn(ctx context.Context) (err error) {
	for range prepareTries {
		var conn *sql.Conn
		var missing []missingIndex
		err = within(ctx, lookTime, func(ctx context.Context) (err error) {
			conn, err = s.open(ctx)
			return err
		})
		if err == nil {
			missing, err = s.prepare(ctx, conn)
			s.release(ctx, conn)
		}
		if err == nil {
			s.makeBeside(ctx, missing)
			return nil
		}
		if ctx.Err() != nil || errors.Is(err, errNoAnswer) || within(ctx, lookTime, s.db.PingContext) != nil {
			break
		}
	}
	return err
}

// doubtTables has the next call look for the tables again: this one failed, and somebody may have dropped them. If its time
// is over, it was not the database that said so.
func (s *Store) doubtTables(ctx context.Context) {
	if ctx.Err() == nil {
		s.prepared.Store(false)
		s.keyed.Store(false)
	}
}

// errMissing is the error of tables that lack something.
var errMissing = errors.New("something is missing")

// complete looks whether everything is there.
func (s *Store) complete(ctx context.Context, conn *sql.Conn) error {
	for _, t := range []table{executions, statuses} {
		has, err := columnsOf(ctx, conn, t)
		if err != nil {
			return err
		}
		indexes, err := s.indexesOf(ctx, conn, t)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(t.columns, func(c column) bool { return !slices.Contains(has, c.name) }) ||
			slices.ContainsFunc(t.indexes, func(i index) bool { return !slices.Contains(indexes, i.name) }) {
			return errMissing
		}
	}
	return nil
}

// prepare makes what takes no time, and returns the indexes that may take long, as their tables have rows.
func (s *Store) prepare(ctx context.Context, conn *sql.Conn) (missing []missingIndex, err error) {
	for _, t := range []table{executions, statuses} {
		has, err := columnsOf(ctx, conn, t)
		if errors.Is(err, errNoAnswer) {
			return nil, err
		}
		if err != nil {
			if _, err := conn.ExecContext(ctx, s.dialect.create(t)); err != nil {
				return nil, err
			}
			if has, err = columnsOf(ctx, conn, t); err != nil {
				return nil, err
			}
		}
		for _, c := range t.columns {
			if slices.Contains(has, c.name) {
				continue
			}
			if !c.ours {
				return nil, fmt.Errorf("table %s has no column %s", t.name, c.name)
			}
			if _, err := conn.ExecContext(ctx, "ALTER TABLE "+t.name+" ADD COLUMN "+s.dialect.define(c)); err != nil {
				return nil, err
			}
		}
		large, err := s.prepareIndexes(ctx, conn, t)
		if err != nil {
			return nil, err
		}
		missing = append(missing, large...)
	}
	return missing, nil
}

// columnsOf returns the names of a table's columns, in lower case.
func columnsOf(ctx context.Context, conn *sql.Conn, t table) (names []string, err error) {
	err = within(ctx, lookTime, func(ctx context.Context) error {
		rows, err := conn.QueryContext(ctx, "SELECT * FROM "+t.name+" WHERE 1 = 0")
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // it has no rows
		if names, err = rows.Columns(); err != nil {
			return err
		}
		for i, name := range names {
			names[i] = strings.ToLower(name)
		}
		return rows.Err()
	})
	return names, err
}

// discard has the pool throw a connection away.
func discard(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // returns what it is given
}
