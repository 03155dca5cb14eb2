package scheduler

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
)

// handlers are the code of jobs that are data. It is code itself: which of them runs a job is decided by the job's
// configuration, whenever that changes.
type handlers struct {
	byClass map[string]job.Handler
	take    func(job.Config) bool // nil takes every job
}

// WithHandler lets this process take part in every job of the registry whose class
// ([job.Config.Class], jobClass in the tree) is class, with code as what runs its items. Such jobs are
// data: they are created, changed and removed at run time by whoever writes their config nodes, and every
// process that has the handler follows, without a restart.
//
// A job that [Scheduler.Add] declares before Run is left to its declaration, and so is one that it declares while Run goes
// on if the job was not stored before. A stored one has been taken up by then, and Add refuses it with [ErrDeclared]: as
// what is added is stored from then on, that is each time but the first. So declare jobs of a class with a handler here
// before Run.
//
// A job whose configuration cannot be read or used pauses until it can. If a job is removed, or gets a class without a
// handler here, this process leaves it: what runs of it goes on to its end.
//
// To find the jobs, the scheduler follows the whole namespace of the registry with one view more.
func WithHandler(class string, code job.Handler) Option {
	return func(o *options) error {
		f, is := code.(job.HandlerFunc)
		switch {
		case class == "":
			return fmt.Errorf("%w: handler has no class", ErrInvalidOption)
		case code == nil || is && f == nil:
			return fmt.Errorf("%w: handler of class %q is nil", ErrInvalidOption, class)
		case o.handlers.byClass[class] != nil:
			return fmt.Errorf("%w: class %q has two handlers", ErrInvalidOption, class)
		}
		if o.handlers.byClass == nil {
			o.handlers.byClass = make(map[string]job.Handler)
		}
		o.handlers.byClass[class] = code
		return nil
	}
}

// WithJobFilter limits the jobs that this process takes part in by its handlers to those for which take returns true.
// take is called whenever a job comes or its configuration changes: if it then returns false, the process leaves the
// job as it does one without a handler. The default takes all.
//
// The function must be safe for concurrent use, fast, and depend on nothing but the configuration; if it decides in
// another way from some moment on, call [Scheduler.Reconsider]. One that panics says no, and the
// log tells. Jobs that [Scheduler.Add]
// declares are not asked about.
func WithJobFilter(take func(job.Config) bool) Option {
	return func(o *options) error {
		if take == nil {
			return fmt.Errorf("%w: job filter is nil", ErrInvalidOption)
		}
		o.handlers.take = take
		return nil
	}
}

// Reconsider asks the function of [WithJobFilter] again about every job: the process joins those that it takes now, and
// leaves the others, in which what runs goes on to its end. It does not wait for that. Without Run it does nothing.
func (s *Scheduler) Reconsider() {
	s.mu.Lock()
	c := s.catalog
	s.mu.Unlock()
	if c != nil {
		c.box.Post(c.considerAll)
	}
}

// Reconfigure has the code of every job of this process, and its error handler, be made anew of the configuration that is
// stored: for code whose [job.Handler.Configure] decides by more than the configuration, when that has changed. A job that was
// refused goes on, if it is not refused any more; without Reconfigure it does within a minute. What runs goes on with the code
// that it began with. Reconfigure does not wait.
func (s *Scheduler) Reconfigure() {
	s.reconfigure(func(*runner) bool { return true })
}

// ReconfigureRefused is [Scheduler.Reconfigure] for the jobs alone that this process refuses: for what has come on which code
// depends, where nothing of it can have gone for long.
func (s *Scheduler) ReconfigureRefused() {
	s.reconfigure(func(r *runner) bool { return r.configuration.Refusal() != "" })
}

func (s *Scheduler) reconfigure(concerned func(*runner) bool) {
	s.mu.Lock()
	runners := s.list()
	s.mu.Unlock()
	for _, r := range runners {
		r.box.Post(func() {
			if r.applied > 0 && concerned(r) { // or it has seen none, and will
				r.configure()
			}
		})
	}
}

// has tells whether this process has code for a job, and is to take part in it. The error is that of a filter that panicked, or
// the end of ctx while the filter had not returned.
func (h handlers) has(ctx context.Context, cfg job.Config) (bool, error) {
	if h.byClass[cfg.ClassName()] == nil {
		return false, nil
	}
	return h.takes(ctx, cfg)
}

func (h handlers) takes(ctx context.Context, cfg job.Config) (bool, error) {
	if h.take == nil {
		return true, nil
	}
	taken := false
	_, err := protect.Within(ctx, func() error {
		taken = h.take(cfg)
		return nil
	})
	return err == nil && taken, err
}

// Configure implements [job.Handler].
func (h handlers) Configure(cfg job.Config) (job.HandlerFunc, error) {
	code := h.byClass[cfg.ClassName()]
	if code == nil {
		return nil, &job.FieldError{
			Field: "Class", Value: cfg.ClassName(),
			Reason: "must be one that this process has a handler for: " + strings.Join(slices.Sorted(maps.Keys(h.byClass)), ", "),
		}
	}
	if taken, err := h.takes(context.Background(), cfg); err != nil || !taken { // until the catalog has left the job
		return nil, &job.FieldError{Field: "Name", Value: cfg.Name, Reason: "must be that of a job which the filter of this process takes"}
	}
	return code.Configure(cfg)
}
