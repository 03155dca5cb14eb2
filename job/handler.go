package job

import "context"

// Handler is the code of a job, or of all jobs of a class. Most code is a [HandlerFunc]. Code that depends
// on its job's configuration, as a script depends on its command line, is a type of its own.
//
// The scheduler calls Configure when the job is declared; an error refuses the declaration. It calls Configure again for the
// stored configuration, and whenever this changes; an error pauses the job in this process, and leaves it to other instances,
// if there are any. Configure is called once more each minute then, as what it did not find may have come. Code that decides by
// more than the configuration is called at once, for every job of the process, by the scheduler's method Reconfigure: call that
// when something of it has changed. The function that Configure returns runs the items from then on. Executions that began
// earlier go on with the code that they began with.
//
// While Configure runs, the job begins nothing; everything else goes on. A call that has not returned after ten
// seconds counts as failed until it returns. So does the newest one if the configuration has kept changing before any had
// returned: nothing begins by code of an older configuration.
type Handler interface {
	// Configure returns the function that runs the items of a job with this configuration, or what is wrong
	// with the configuration. It is safe for concurrent use and does no I/O, except that a [PropsReader] may
	// read secrets from files.
	Configure(cfg Config) (HandlerFunc, error)
}

// HandlerFunc runs one sharding item. It is a [Handler] for simple jobs, whatever their configuration.
//
// The scheduler calls it concurrently for different items, but never for an item that still runs in this process.
// If it returns an error, panics, or ends its goroutine by runtime.Goexit, this item has failed; other items go on.
// An error whose own methods panic, as those of a nil pointer may, is replaced by one that names its type. The text of any
// other is read when the code has returned, and kept: the record, the log, listeners and observers have that text. What
// listeners and observers get is not the error itself then; errors.Is and errors.As find that. An [ErrorHandler] gets it.
//
// The context ends when the work must stop: its time is over, the scheduler stops, or the session was lost, so
// that another instance may take the item over. context.Cause says which. Code that goes on regardless may overlap
// with its own rerun elsewhere.
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

// Checker is a second interface, which a [Handler] may implement if it can tell whether this machine could run
// the job. The handler of a script looks for the command, for example. The scheduler calls Check once, when the
// job is declared; an error refuses the declaration.
type Checker interface {
	// Check returns what is wrong. Unlike Configure, it may do I/O.
	Check(cfg Config) error
}
