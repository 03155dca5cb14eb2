package scheduler

import (
	"context"
	"fmt"
)

// whileRunning returns a context for a call of the application that waits for the registry. It ends also when Run is over, with
// [ErrStopped] and why, as nobody may be left then who ends ctx. free must be called.
func (s *Scheduler) whileRunning(ctx context.Context) (until context.Context, free func()) {
	return s.whileRunningElse(ctx, func(why error) error { return why })
}

// whileKnown is whileRunning for a call of a handle: the scheduler does not have the job any more then.
func (j *Job) whileKnown(ctx context.Context) (until context.Context, free func()) {
	return j.s.whileRunningElse(ctx, func(why error) error { return fmt.Errorf("%w: %w", ErrUnknownJob, why) })
}

func (s *Scheduler) whileRunningElse(ctx context.Context, cause func(why error) error) (until context.Context, free func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	end := func() { cancel(cause(context.Cause(s.over))) }
	if s.over.Err() != nil {
		end()
	}
	stop := context.AfterFunc(s.over, end)
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
