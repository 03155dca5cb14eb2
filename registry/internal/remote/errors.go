// Package remote is what the backends share whose store is a server: how they tell its errors as errors of
// the registry, by which clock they count the deadlines of sessions, and how long they wait before they ask
// the server again.
package remote

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/registry"
)

// Refusals are the answers of a store that repeating does not change, and what they mean to users of the
// registry.
type Refusals []struct{ Cause, Meaning error }

// Translate returns the error of the registry that err means, with err as its cause; nil if err is nil or
// no refusal.
func (r Refusals) Translate(err error) error {
	for _, refusal := range r {
		if errors.Is(err, refusal.Cause) {
			return fmt.Errorf("%w: %w", refusal.Meaning, err)
		}
	}
	return nil
}

// GivenUp is the error of a call whose context ended before the store answered. last is what the last
// try came to; nil if there was none.
func GivenUp(ctx context.Context, meaning, last error) error {
	cause := context.Cause(ctx)
	if errors.Is(cause, registry.ErrClosed) && errors.Is(meaning, registry.ErrUnavailable) {
		return registry.ErrClosed
	}
	if last == nil || errors.Is(last, cause) {
		return fmt.Errorf("%w: %w", meaning, cause)
	}
	return fmt.Errorf("%w: %w (last try: %w)", meaning, cause, last)
}

// OpError says what was tried on which path. It is nil if err is.
func OpError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &registry.OpError{Op: op, Path: path, Err: err}
}
