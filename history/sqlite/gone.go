package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/elasticron/elasticron/history"
)

// ErrGone is the error of methods that read or write if somebody has deleted, renamed or replaced the file since it was opened.
// SQLite goes on with what has no name any more: it would show what nobody adds to, and store what nobody finds.
var ErrGone = errors.New("the file was deleted, renamed or replaced while it was open: put it back, or restart this process")

// there returns ErrGone if what was opened has not its name any more. It opens nothing anew: what SQLite keeps next to the
// former file would be taken for the new one's, and damage it.
func (s *Store) there() error {
	now, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, s.file) {
		return fmt.Errorf("history %q: %w", s.path, ErrGone)
	}
	return nil // or nobody knows
}

// Write implements [history.Sink], as [sqlstore.Store.Write] does. If it returns [ErrGone], nothing is stored.
func (s *Store) Write(ctx context.Context, events []history.Event) error {
	if err := s.there(); err != nil {
		return err
	}
	return s.Store.Write(ctx, events)
}

// Executions implements [history.Reader].
func (s *Store) Executions(ctx context.Context, q history.ExecutionQuery) (history.Page[history.Execution], error) {
	if err := s.there(); err != nil {
		return history.Page[history.Execution]{}, err
	}
	return s.Store.Executions(ctx, q)
}

// Statuses implements [history.Reader].
func (s *Store) Statuses(ctx context.Context, q history.StatusQuery) (history.Page[history.Status], error) {
	if err := s.there(); err != nil {
		return history.Page[history.Status]{}, err
	}
	return s.Store.Statuses(ctx, q)
}
