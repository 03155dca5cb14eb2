package tally

import (
	"errors"
	"fmt"
)

// ErrStale says that a write came from an execution that a later one has replaced.
var ErrStale = errors.New("stale token")

// StaleError says which token was too low. errors.Is(err, ErrStale) is true for it.
type StaleError struct {
	Item  int
	Token int64 // of the write
	Held  int64 // the highest that wrote before
}

// Error names the item and both tokens.
func (e *StaleError) Error() string {
	return fmt.Sprintf("stale token %d for item %d: token %d wrote before", e.Token, e.Item, e.Held)
}

// Is makes errors.Is(err, ErrStale) true.
func (e *StaleError) Is(target error) bool { return target == ErrStale }

// Store holds the latest result of each item. The zero Store is empty.
type Store struct {
	latest map[int]Result
}

// Put writes a result, unless a run with a higher token wrote one of the item before: then it
// returns a [*StaleError] and keeps what it has. The same token may write again.
func (s *Store) Put(r Result) error {
	if held := s.latest[r.Item].Token; r.Token < held {
		return &StaleError{Item: r.Item, Token: r.Token, Held: held}
	}
	if s.latest == nil {
		s.latest = make(map[int]Result)
	}
	s.latest[r.Item] = r
	return nil
}
