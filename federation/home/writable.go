package home

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// unwritableError says that the job must not leave its home yet.
type unwritableError struct {
	registry string
	err      error
}

func (e *unwritableError) Error() string {
	return fmt.Sprintf("%s cannot be written: %v", e.registry, e.err)
}

func (e *unwritableError) Unwrap() error { return e.err }

// asRefused has a registry that cannot be written refuse a move of which nothing was done.
func asRefused(err error) error {
	if unwritable := (*unwritableError)(nil); errors.As(err, &unwritable) {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return err
}

// writable fails if it is certain that the job could not arrive: that is to be known before it is stopped, and before it is
// closed, as from then on nothing calls the move off. A directory that is away, or silent, is no reason: it is told by
// whoever moves next, and the job is not to stand still for it.
func (m *mover) writable(ctx context.Context) error {
	if err := m.try(ctx, m.r.To, m.to); err != nil || m.d.name == m.r.To || m.d.name == m.r.From {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, directoryAnswers)
	defer cancel()
	store, err := m.d.store(bounded, m.d.name)
	if err == nil {
		err = m.try(bounded, m.d.name, store)
	}
	if unwritable := (*unwritableError)(nil); errors.As(err, &unwritable) {
		return err
	}
	return ctx.Err()
}

const (
	// directoryAnswers is how long a move waits to hear whether the directory can be written.
	directoryAnswers = 5 * time.Second
	// tryAgain is the pause before a registry is asked again that did not say.
	tryAgain = 100 * time.Millisecond
)

// try asks a registry to write of the job what a move writes there, under conditions of which one never holds. So it is not
// done, now or by a late copy, whoever dies or sleeps meanwhile. A registry that refuses the user, or is full, says so before
// it looks at conditions.
func (m *mover) try(ctx context.Context, name string, store Store) error {
	for {
		_, err := store.Commit(ctx, registry.Txn{
			If:     []registry.Condition{registry.Absent(m.tree.Config()), registry.Present(m.tree.Config())},
			Then:   []registry.Write{registry.Put(m.tree.Config(), ""), registry.Put(m.tree.Operated(), "")},
			Repeat: registry.RepeatHarmless,
		})
		switch {
		case err == nil, errors.Is(err, registry.ErrConflict):
			return nil
		case errors.Is(err, registry.ErrDenied), errors.Is(err, registry.ErrNoSpace):
			return &unwritableError{name, err}
		case !errors.Is(err, registry.ErrUnknownOutcome) || ctx.Err() != nil:
			return away(ctx, name, err)
		}
		select { // it may answer that at once
		case <-time.After(tryAgain):
		case <-ctx.Done():
			return away(ctx, name, ctx.Err())
		}
	}
}
