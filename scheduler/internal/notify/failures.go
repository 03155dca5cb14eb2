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
	// Told hears how the call ended: nil, what the handler returned, or why it was not told. It must be
	// safe for concurrent use.
	Told func(error)
}

// Failures tells a job's error handler of executions that failed, after their ends are recorded and
// apart from everything else. It has goroutines only while there are failures. What a handler can cost
// is bounded: two calls at once, and as many goroutines that never return if it hangs.
type Failures struct {
	Timeout time.Duration    // of one call
	Curfew  *stopping.Curfew // bounds all

	mu      sync.Mutex
	ctx     context.Context // of calls; nil before the first
	cancel  context.CancelCauseFunc
	queue   []Failure
	working int
	closing chan struct{} // closed with closed; nil before the first failure
	closed  bool
	hang    int // calls that did not return when a stop ended their contexts
	untold  int // failures that the stop kept from being told
	workers sync.WaitGroup
}

// Tell hands a failure over.
func (d *Failures) Tell(f Failure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		d.untold++
		f.Told(ErrHandlerClosed)
		return
	case len(d.queue) >= failuresToKeep:
		f.Told(errHandlerBusy)
		return
	case d.ctx == nil:
		d.ctx, d.cancel = context.WithCancelCause(d.Curfew.Cut)
		d.closing = make(chan struct{})
	}
	d.queue = append(d.queue, f)
	if d.working < handlersAtOnce {
		d.working++
		d.workers.Go(d.work)
	}
}

func (d *Failures) work() {
	for {
		f, ok := d.take()
		if !ok {
			return
		}
		if d.ctx.Err() != nil {
			d.leave(f)
			continue
		}
		if !d.call(f) {
			d.giveUp()
		}
	}
}

// leave ends a failure that is not told to the handler.
func (d *Failures) leave(f Failure) {
	d.mu.Lock()
	d.untold++
	d.mu.Unlock()
	f.Told(ErrHandlerClosed)
}

// giveUp tells the handler nothing more: it hangs, and the scheduler stops.
func (d *Failures) giveUp() { d.cancel(stopping.ErrStopped) }

// Pending returns how many failures handlers are being told of, and how many wait.
func (d *Failures) Pending() (working, queued int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.working, len(d.queue)
}

func (d *Failures) take() (Failure, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) == 0 {
		d.queue = nil
		d.working--
		return Failure{}, false
	}
	f := d.queue[0]
	d.queue = d.queue[1:]
	return f, true
}

// call tells the handler, and bounds how long that takes. A handler that does not return keeps its
// place, so that there are never more of them, until the scheduler stops; then it is false.
func (d *Failures) call(f Failure) bool {
	ctx, cancel := context.WithTimeoutCause(d.ctx, d.Timeout, ErrErrorHandlerTimeout)
	defer cancel()
	done, gone := make(chan error, 1), make(chan struct{})
	protect.Go(func() error { return f.Handler.HandleError(ctx, f.Context.JobName, f.Context, f.Err) }, func(err error) {
		done <- err
		close(gone)
	})
	select {
	case err := <-done:
		f.Told(err)
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
		f.Told(err)
		return true
	case <-timer.C:
	case <-d.Curfew.Last.Done():
	}
	if d.ctx.Err() != nil {
		d.mu.Lock()
		d.hang++
		d.mu.Unlock()
	}
	f.Told(errHandlerHangs)
	select {
	case <-gone:
		return true
	case <-d.ctx.Done():
	case <-d.closing:
	}
	return false
}

// Close takes no more failures, waits for those that it has until the context of the calls has ended, and
// returns when no goroutine of its own remains: how many calls the stop gave up, and how many failures it
// kept from being told.
func (d *Failures) Close() (hang, untold int) {
	d.mu.Lock()
	closed := d.closed
	d.closed = true
	cancel := d.cancel
	if !closed && d.closing != nil {
		close(d.closing)
	}
	d.mu.Unlock()
	d.workers.Wait()
	if cancel != nil {
		cancel(stopping.ErrStopped)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hang, d.untold
}
