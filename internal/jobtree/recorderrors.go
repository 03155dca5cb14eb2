package jobtree

import (
	"errors"
	"fmt"
)

// Why a step of a [Record] is refused.
var (
	// ErrItemRunning: an execution is recorded as running. It ends, or must be declared lost.
	ErrItemRunning = errors.New("item is running")
	// ErrItemNotRunning: no execution is recorded as running; it was ended or taken away.
	ErrItemNotRunning = errors.New("item is not running")
	// ErrItemWaiting: a lost execution must be claimed first.
	ErrItemWaiting = errors.New("item waits for failover")
	// ErrItemNotWaiting: there is nothing to claim.
	ErrItemNotWaiting = errors.New("item does not wait for failover")
	// ErrNeverRan: there is no execution to repeat.
	ErrNeverRan = errors.New("item never ran")
	// ErrFirePassed: this fire or a later one was run already.
	ErrFirePassed = errors.New("fire was run already")
	// ErrFireAhead: the fire lies further in the future than clocks may differ.
	ErrFireAhead = errors.New("fire lies in the future")
	// ErrTriggerPassed: this request to run by hand or a later one was granted already.
	ErrTriggerPassed = errors.New("trigger was run already")
)

// RefusedError says which step of a [Record] is not allowed, and why. errors.Is sees the reason: one
// of the sentinels of this package, or registry.ErrInvalid if the call itself makes no sense.
type RefusedError struct {
	Step   string // "begin", "end", "undo", "declare lost", "requeue", "give up" or "claim"
	State  ItemState
	Reason error
}

// Error names the step, the state of the item and the reason.
func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s of an item that is %s: %s", e.Step, e.State, e.Reason)
}

// Unwrap gives the reason.
func (e *RefusedError) Unwrap() error { return e.Reason }

func (r Record) refuse(step string, reason error) error {
	return &RefusedError{Step: step, State: r.state(), Reason: reason}
}
