package scheduler

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/job"
)

// handlers are the code of jobs that are data, by class. It is code itself: which of them runs a job
// is decided by the job's configuration, whenever that changes.
type handlers map[string]job.Handler

// WithHandler lets this process take part in every job of the registry whose class
// ([job.Config.Class], jobClass in the tree) is class, with code as what runs its items. Such jobs are
// data: they are created, changed and removed at run time by whoever writes their config nodes, and every
// process that has the handler follows, without a restart.
//
// A job that [Scheduler.Add] declares is left to its declaration. One whose configuration cannot be
// read or used pauses until it can. If a job is removed, or gets a class without a handler here,
// this process leaves it: what runs of it goes on to its end.
//
// To find the jobs, the scheduler follows the whole namespace of the registry with one view more.
func WithHandler(class string, code job.Handler) Option {
	return func(o *options) error {
		switch {
		case class == "":
			return fmt.Errorf("%w: handler has no class", ErrInvalidOption)
		case code == nil:
			return fmt.Errorf("%w: handler of class %q is nil", ErrInvalidOption, class)
		case o.classes[class] != nil:
			return fmt.Errorf("%w: class %q has two handlers", ErrInvalidOption, class)
		}
		if o.classes == nil {
			o.classes = make(handlers)
		}
		o.classes[class] = code
		return nil
	}
}

// Configure implements [job.Handler].
func (h handlers) Configure(cfg job.Config) (job.HandlerFunc, error) {
	code := h[cfg.ClassName()]
	if code == nil {
		return nil, &job.FieldError{
			Field: "Class", Value: cfg.ClassName(),
			Reason: "must be one that this process has a handler for: " + strings.Join(slices.Sorted(maps.Keys(h)), ", "),
		}
	}
	return code.Configure(cfg)
}
