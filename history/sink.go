package history

import (
	"context"
	"fmt"
)

// Sink takes events.
type Sink interface {
	// Write takes events, in the order in which they were posted. One goroutine calls it and waits
	// for it; the next events gather meanwhile. ctx ends when the sink's timeout is over, or when
	// [Bus.Close] will wait no longer.
	//
	// If Write returns an error, the bus calls it again with the same events, so a sink may get an event
	// twice. A sink that will never take some of the events takes the others and returns a
	// [*RejectedError]; then none of them comes again. If Write panics, all events are rejected. Write must
	// not keep or change the slice.
	Write(ctx context.Context, events []Event) error
}

// RejectedError says that a sink took a batch except for some events, which it will never take.
type RejectedError struct {
	Count int   // of events
	Err   error // why
}

// Error says how many, and why.
func (e *RejectedError) Error() string {
	return fmt.Sprintf("%d events will never be taken: %v", e.Count, e.Err)
}

// Unwrap gives the cause.
func (e *RejectedError) Unwrap() error { return e.Err }
