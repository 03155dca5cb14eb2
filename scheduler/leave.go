package scheduler

import (
	"context"
	"errors"
	"fmt"
)

// Leave ends this process's part in the job while the scheduler and its other jobs go on: its items get
// other owners at once, what runs here comes to its end, and Leave returns when it has. So code of the job
// itself must not wait for it. The job stays in the registry, and other processes run it; an operator
// can remove it. This process runs it again when it is added again. A job that is data stays while it is in
// the registry and the process has a handler for its class: Leave refuses it.
//
// When ctx ends, Leave returns its cause, and the process goes on leaving, once it has begun to: before the
// job's tree could be read there is nothing to leave, and Leave only waits. The error is [ErrStopped] if Run
// ends meanwhile, or is to. Leaving a job that the scheduler does not have any more is no error.
//
// The scheduler keeps watching over each job that was left, with one view of one node, until another session has begun, or Run
// ends.
func (j *Job) Leave(ctx context.Context) error {
	if j.r.class == "" {
		return fmt.Errorf("leave job %q: %w", j.r.name, errData)
	}
	ended := j.s.endOf(j.r)
	if ended == nil {
		return nil
	}
	wait := func(done <-chan struct{}, what string) error {
		select {
		case <-done:
			return nil
		case <-j.r.departure.gone.Done():
			return j.s.stopped() // which gives up what runs, so that the job is left in any case
		case <-ctx.Done():
			return fmt.Errorf("waiting %s: %w", what, context.Cause(ctx))
		case <-ended:
			return j.s.stopped()
		}
	}
	if err := wait(j.r.opened.Done(), "for its tree"); err != nil {
		return fmt.Errorf("leave job %q: %w", j.r.name, err)
	}
	j.r.retire(func() {
		j.s.watchLeft(j.r.life, j.r.name)
		j.s.dismiss(j.r)
	})
	if err := wait(nil, "for what runs here"); err != nil {
		return fmt.Errorf("leave job %q: %w", j.r.name, err)
	}
	return nil
}

var (
	// errData: the job was not added.
	errData = errors.New("it is data, and is run for as long as the registry has it")
	// errLeft: the job was left before it had joined, or before it could be taken up as data.
	errLeft = fmt.Errorf("%w: the job was left", ErrUnknownJob)
)

// endOf returns what is closed when Run ends, for a runner that is to leave; nil if it has nothing to leave: it
// is not on the list any more, or is taken off it before Run.
func (s *Scheduler) endOf(r *runner) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runners[r.name] != r {
		return nil
	}
	if s.life == nil {
		s.strike(r)
		return nil
	}
	return s.life.Done()
}
