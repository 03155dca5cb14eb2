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

// Checker is what code may implement besides that can tell on this machine whether it could run a job, as
// that of a script looks for the command. The scheduler asks it once, when the job is declared, where an
// error refuses the declaration.
type Checker interface {
	// Check returns what is wrong. Unlike that of [Configurable], it may do I/O.
	Check(cfg Config) error
}
