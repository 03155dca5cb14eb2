package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
)

// missingIndex is an index that a table should have.
type missingIndex struct {
	table table
	index index
}

// indexing is the making of indexes beside the writes.
type indexing struct {
	done chan struct{}
	err  error // not to be read before done is closed
}

// prepareIndexes makes the indexes of a table that has no rows, and returns those that one with rows lacks.
func (s *Store) prepareIndexes(ctx context.Context, conn *sql.Conn, t table) (missing []missingIndex, err error) {
	has, err := s.indexesOf(ctx, conn, t)
	if err != nil {
		return nil, err
	}
	for _, i := range t.indexes {
		if !slices.Contains(has, i.name) {
			missing = append(missing, missingIndex{t, i})
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	var row int
	switch err := within(ctx, lookTime, func(ctx context.Context) error {
		return conn.QueryRowContext(ctx, "SELECT 1 FROM "+t.name+" LIMIT 1").Scan(&row)
	}); {
	case err == nil:
		return missing, nil
	case !errors.Is(err, sql.ErrNoRows):
		return nil, err
	}
	for _, m := range missing {
		if err := s.makeIndex(ctx, conn, m, ""); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// makeBeside makes indexes without having anybody wait for them, unless that is under way. Events have a time to be written in,
// in which the indexes of a large table may not be finished: PostgreSQL would begin anew with each try, and nothing would ever
// be stored.
func (s *Store) makeBeside(ctx context.Context, missing []missingIndex) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.indexing != nil {
		select {
		case <-s.indexing.done:
		default:
			return
		}
	}
	s.indexing = nil
	if len(missing) == 0 {
		return
	}
	i := &indexing{done: make(chan struct{})}
	s.indexing = i
	ctx = context.WithoutCancel(ctx)
	go func() {
		defer close(i.done)
		i.err = within(ctx, indexTime, func(ctx context.Context) error {
			return s.session(ctx, func(conn *sql.Conn) error { return s.makeInTurn(ctx, conn, missing) })
		})
		if i.err != nil {
			s.log.WarnContext(ctx, "indexes of the history could not be made: queries and the deletion of old events are slow", "error", i.err)
		}
	}()
}

// makeInTurn makes indexes of tables that have rows, unless another process is about to. Two that did would wait for each other,
// or take the other's for what is left of one that ended.
func (s *Store) makeInTurn(ctx context.Context, conn *sql.Conn, missing []missingIndex) error {
	if s.dialect.takeTurn != "" {
		var alone bool
		if err := conn.QueryRowContext(ctx, s.dialect.takeTurn).Scan(&alone); err != nil || !alone {
			return err
		}
		defer func() {
			if _, err := conn.ExecContext(ctx, s.dialect.endTurn); err != nil {
				discard(conn)
			}
		}()
	}
	for _, m := range missing {
		if err := s.makeIndex(ctx, conn, m, s.dialect.beside); err != nil {
			return err
		}
	}
	return nil
}

// makeIndex makes an index, unless another process has made it meanwhile. What is left of one that ended while it did may have
// the name of the index, and serves nobody.
func (s *Store) makeIndex(ctx context.Context, conn *sql.Conn, m missingIndex, beside string) error {
	create := "CREATE INDEX " + beside + m.index.name + " ON " + m.table.name + " (" + m.index.columns + ")"
	_, err := conn.ExecContext(ctx, create)
	if err == nil {
		return nil
	}
	has, failed := s.indexesOf(ctx, conn, m.table)
	switch {
	case failed == nil && slices.Contains(has, m.index.name):
		return nil
	case failed != nil || s.dialect.beside == "":
		return err
	}
	if _, failed := conn.ExecContext(ctx, "DROP INDEX "+s.dialect.beside+"IF EXISTS "+m.index.name); failed != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, create)
	return err
}

// indexesOf returns the names of a table's indexes, in upper case.
func (s *Store) indexesOf(ctx context.Context, conn *sql.Conn, t table) (names []string, err error) {
	err = within(ctx, lookTime, func(ctx context.Context) error {
		rows, err := conn.QueryContext(ctx, s.dialect.bind(s.dialect.tablesHave), strings.ToLower(t.name))
		if err != nil {
			return err
		}
		defer rows.Close() //nolint:errcheck // read to the end
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, strings.ToUpper(name))
		}
		return rows.Err()
	})
	return names, err
}
