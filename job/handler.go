package job

import "context"

// Handler is the code of a job, or of all jobs of a class. Most code is a [HandlerFunc]; code that depends
// on its job's configuration, as that of a script does on the command line, is a type of its own.
//
// The scheduler calls Configure when the job is declared, where an error refuses the declaration, and again
// for the stored configuration and whenever that changes; there an error pauses the job until the
// configuration is corrected. What Configure returns runs the items from then on. Executions that began
// earlier go on with the code that they began with.
//
// Nothing else waits for Configure, but the job begins nothing meanwhile. A call that has not returned
// after ten seconds has failed, until it returns after all.
type Handler interface {
	// Configure returns what runs the items of a job of this configuration, or what is wrong with it. It
	// does no I/O and is safe for concurrent use.
	Configure(cfg Config) (HandlerFunc, error)
}

// HandlerFunc runs one sharding item. It is a [Handler] for simple jobs, whatever their configuration.
//
// It is called concurrently for different items, never for an item that still runs in this process. An
// error, a panic or the end of the goroutine by runtime.Goexit is recorded as a failure of this item and
// concerns no other.
//
// The context ends when the work must stop: the session was lost, so that another instance may take the
// item over, or the scheduler stops; context.Cause says which. Code that goes on regardless may overlap with
// its own rerun elsewhere.
type HandlerFunc func(ctx context.Context, sc ShardingContext) error

var _ Handler = HandlerFunc(nil)

// Configure returns f. It refuses a job of a type that only a handler of that type can run.
func (f HandlerFunc) Configure(cfg Config) (HandlerFunc, error) {
	switch cfg.Type {
	case TypeDataflow:
		return nil, &FieldError{Field: "Type", Value: cfg.Type.String(), Reason: "must be SIMPLE, as the code is no Dataflow"}
	case TypeScript:
		return nil, &FieldError{Field: "Type", Value: cfg.Type.String(), Reason: "must be SIMPLE, as the code is none that runs scripts"}
	default:
		return f, nil
	}
}

// Checker is what a [Handler] may implement besides that can tell on this machine whether it could run a
// job, as that of a script looks for the command. The scheduler asks it once, when the job is declared,
// where an error refuses the declaration.
type Checker interface {
	// Check returns what is wrong. Unlike Configure, it may do I/O.
	Check(cfg Config) error
}
