package job

import "context"

// Simple is a job whose every item is one call.
type Simple interface {
	// Execute runs one sharding item. It is called concurrently for different items, never for an
	// item that still runs in this process. An error, a panic or the end of the goroutine by
	// runtime.Goexit is recorded as a failure of this item and concerns no other.
	//
	// The context ends when the work must stop: the session was lost, so that another instance may
	// take the item over, or the scheduler stops; context.Cause says which. Code that goes on
	// regardless may overlap with its own rerun elsewhere.
	Execute(ctx context.Context, sc ShardingContext) error
}

// SimpleFunc is a function that is a [Simple].
type SimpleFunc func(ctx context.Context, sc ShardingContext) error

// Execute calls f.
func (f SimpleFunc) Execute(ctx context.Context, sc ShardingContext) error { return f(ctx, sc) }

var _ Simple = SimpleFunc(nil)
