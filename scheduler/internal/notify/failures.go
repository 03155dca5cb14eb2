package notify

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

const (
	// handlersAtOnce is how many calls of one job's error handler go on at the same time.
	handlersAtOnce = 2
	// failuresToKeep is how many failures of one job wait for its handler.
	failuresToKeep = 1024
)

// What an error handler did wrong, besides returning an error or panicking.
var (
	// ErrErrorHandlerTimeout is the cause with which the context of an error handler ends when it took
	// longer than it may.
	ErrErrorHandlerTimeout = errors.New("error handler timed out")
	errHandlerHangs        = errors.New("error handler did not return after its context was cancelled")
	errHandlerBusy         = errors.New("error handler is busy: too many failures wait for it")
	// ErrHandlerClosed says that a stop kept a failure from being told to its handler. Run's report tells how
	// many there were.
	ErrHandlerClosed = errors.New("the scheduler stopped before its error handler was told")
)

// Failure is an execution that failed, on its way to the job's error handler.
type Failure struct {
	Handler job.ErrorHandler
	Context job.ShardingContext
	Err     error
	// Told hears how the call ended: nil, what the handler returned, or why it was not told; and whether what it returned
	// is job.ErrFailRound. It must be safe for concurrent use.
	Told func(err error, failRound bool)
}

// Failures tells a job's error handler of executions that failed, after their ends are recorded and
// apart from everything else. It has goroutines only while there are failures. What a handler can cost
// is bounded: two calls at once, and as many goroutines that never return if it hangs.
type Failures struct {
	Bounds *Bounds

	mu     sync.Mutex
	closed bool
	untold int    // failures that the stop kept from being told
	calls  *calls // nil before the first failure: there may be thousands of jobs
}

// Bounds are those of the calls of all error handlers.
type Bounds struct {
	Timeout time.Duration    // of one call
	Curfew  *stopping.Curfew // of all
}

// calls are those of one job's error handler. They are guarded by the mutex of its Failures, but for what never changes.
type calls struct {
	ctx     context.Context // of all
	cancel  context.CancelCauseFunc
	queue   []Failure
	working int
	closing chan struct{} // closed when no more failures are taken
	hang    int           // calls that did not return when a stop ended their contexts
	workers sync.WaitGroup
}

// begun returns the calls, from now on if there were none. The caller holds mu.
func (d *Failures) begun() *calls {
	if d.calls == nil {
		d.calls = &calls{closing: make(chan struct{})}
		d.calls.ctx, d.calls.cancel = context.WithCancelCause(d.Bounds.Curfew.Cut)
	}
	return d.calls
}

// Tell hands a failure over.
func (d *Failures) Tell(f Failure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		d.untold++
		f.Told(ErrHandlerClosed, false)
		return
	}
	c := d.begun()
	if len(c.queue) >= failuresToKeep {
		f.Told(errHandlerBusy, false)
		return
	}
	c.queue = append(c.queue, f)
	if c.working < handlersAtOnce {
		c.working++
		c.workers.Go(func() { d.work(c) })
	}
}

func (d *Failures) work(c *calls) {
	for {
		f, ok := d.take(c)
		if !ok {
			return
		}
		if c.ctx.Err() != nil {
			d.leave(f)
			continue
		}
		if !d.call(c, f) {
			c.giveUp()
		}
	}
}

// leave ends a failure that is not told to the handler.
func (d *Failures) leave(f Failure) {
	d.mu.Lock()
	d.untold++
	d.mu.Unlock()
	f.Told(ErrHandlerClosed, false)
}

// giveUp tells the handler nothing more: it hangs, and the scheduler stops.
func (c *calls) giveUp() { c.cancel(stopping.ErrStopped) }

// Pending returns how many failures handlers are being told of, and how many wait.
func (d *Failures) Pending() (working, queued int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.calls == nil {
		return 0, 0
	}
	return d.calls.working, len(d.calls.queue)
}

func (d *Failures) take(c *calls) (Failure, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(c.queue) == 0 {
		c.queue = nil
		c.working--
		return Failure{}, false
	}
	f := c.queue[0]
	c.queue = c.queue[1:]
	return f, true
}

// call tells the handler, and bounds how long that takes. A handler that does not return keeps its
// place, so that there are never more of them, until the scheduler stops; then it is false.
func (d *Failures) call(c *calls, f Failure) bool {
	ctx, cancel := context.WithTimeoutCause(c.ctx, d.Bounds.Timeout, ErrErrorHandlerTimeout)
	defer cancel()
	done, gone := make(chan error, 1), make(chan struct{})
	failRound := false // once done has something
	protect.Go(func() error {
		err := f.Handler.HandleError(ctx, f.Context.JobName, f.Context, f.Err)
		failRound = failsRound(err)
		return err
	}, func(err error) {
		done <- err
		close(gone)
	})
	select {
	case err := <-done:
		f.Told(err, failRound)
		return true
	case <-ctx.Done():
	}
	timer := time.NewTimer(stopping.LastWords)
	defer timer.Stop()
	select {
	case err := <-done:
		if err != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		f.Told(err, failRound)
		return true
	case <-timer.C:
	case <-d.Bounds.Curfew.Last.Done():
	}
	if c.ctx.Err() != nil {
		d.mu.Lock()
		c.hang++
		d.mu.Unlock()
	}
	f.Told(errHandlerHangs, false)
	select {
	case <-gone:
		return true
	case <-c.ctx.Done():
	case <-c.closing:
	}
	return false
}

// failsRound tells whether a handler's answer is that the round fails. It is for the goroutine of the handler, as it calls
// methods of the error, which may panic; then the answer is another error.
func failsRound(answer error) bool {
	defer func() { _ = recover() }()
	return errors.Is(answer, job.ErrFailRound)
}

// Close takes no more failures, waits for those that it has until the context of the calls has ended, and
// returns when no goroutine of its own remains: how many calls the stop gave up, and how many failures it
// kept from being told. It may be called more than once, also at the same time; each is counted for one call.
func (d *Failures) Close() (hang, untold int) {
	d.mu.Lock()
	closed, c := d.closed, d.calls
	d.closed = true
	if !closed && c != nil {
		close(c.closing)
	}
	d.mu.Unlock()
	if c != nil {
		c.workers.Wait()
		c.cancel(stopping.ErrStopped)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c != nil {
		hang, c.hang = c.hang, 0
	}
	untold, d.untold = d.untold, 0
	return hang, untold
}
