package home

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// unwritableError says that the job must not leave its home yet.
type unwritableError struct {
	registry string
	err      error
}

func (e *unwritableError) Error() string {
	if errors.Is(e.err, registry.ErrTooLarge) {
		return fmt.Sprintf("%s does not take all of it: %v", e.registry, e.err)
	}
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

// writable fails if it is certain that the job could not arrive with a configuration: that is to be known before it is stopped,
// and before it is closed, as from then on nothing calls the move off. A directory that is away, or silent, is no reason: it is
// told by whoever moves next, and the job is not to stand still for it.
func (m *mover) writable(ctx context.Context, shown registry.Snapshot, config string) error {
	m.say("trying whether %s takes it", m.r.To) // which waits for as long as that does not answer
	if err := m.fits(ctx, shown, config); err != nil || m.d.name == m.r.To || m.d.name == m.r.From {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, directoryAnswers)
	defer cancel()
	store, err := m.d.store(bounded, m.d.name)
	if err == nil {
		err = m.try(bounded, m.d.name, store, registry.Put(m.tree.Config(), ""), registry.Put(m.tree.Operated(), ""))
	}
	if unwritable := (*unwritableError)(nil); errors.As(err, &unwritable) {
		return err
	}
	return ctx.Err()
}

// fits tries whether the new home takes what it cannot be given in parts, which is what is written with the configuration, and
// any other node; and whether the former home takes what closes the job: that quotes the configuration, which can double it.
func (m *mover) fits(ctx context.Context, shown registry.Snapshot, config string) error {
	tokens := jobtree.EncodeTokens(jobtree.Tokens{Base: math.MaxInt64})
	if err := m.try(ctx, m.r.To, m.to,
		registry.Put(m.tree.Config(), config), registry.Put(m.tree.Tokens(), tokens), registry.Put(m.tree.Operated(), "")); err != nil {
		return err
	}
	longest := registry.Node{Path: m.tree.Operated()}
	for n := range shown.All() {
		if name, known := jobtree.Parse(n.Path); known && !n.Ephemeral() && carried(name.Kind) && len(n.Value) > len(longest.Value) {
			longest = n
		}
	}
	if len(longest.Value) > max(anyTakes, len(config)) {
		if err := m.try(ctx, m.r.To, m.to, registry.Put(m.tree.Config(), ""), registry.Put(longest.Path, longest.Value)); err != nil {
			return err
		}
	}
	closed := jobtree.EncodeElsewhere(jobtree.Elsewhere{
		Home: m.r.To, Move: strings.Repeat("A", lenOfMove), Kept: math.MaxInt64, Since: time.Unix(0, 999_999_999), Config: config,
		FirstToken: math.MaxInt64,
	})
	if len(closed) <= anyTakes && !m.opts.DryRun { // whether it may be written, the stop tells, which is the first to do so
		return nil
	}
	return m.try(ctx, m.r.From, m.from, registry.Put(m.tree.Config(), closed))
}

// anyTakes is how many bytes every registry takes, by all that is known of them: an ordinary job needs no tries for them.
const anyTakes = 64 << 10

const (
	// directoryAnswers is how long a move waits to hear whether the directory can be written.
	directoryAnswers = 5 * time.Second
	// tryAgain is the pause before a registry is asked again that did not say.
	tryAgain = 100 * time.Millisecond
)

// try asks a registry whether it would take what a move writes there, until it answers.
func (m *mover) try(ctx context.Context, name string, store Store, writes ...registry.Write) error {
	for {
		err := guarded.Try(ctx, store, writes...)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, registry.ErrDenied), errors.Is(err, registry.ErrNoSpace), errors.Is(err, registry.ErrTooLarge):
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
