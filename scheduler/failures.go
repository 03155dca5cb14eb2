package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/elasticron/elasticron/job"
)

const (
	// handlersAtOnce is how many calls of one job's error handler go on at the same time.
	handlersAtOnce = 2
	// failuresToKeep is how many failures of one job wait for its handler.
	failuresToKeep = 1024
)

// What an error handler did wrong, besides returning an error or panicking.
var (
	// ErrHandlerTimeout is the cause with which the context of an error handler ends when it took
	// longer than [WithErrorHandlerTimeout] allows.
	ErrHandlerTimeout = errors.New("error handler timed out")
	errHandlerHangs   = errors.New("error handler did not return after its context was cancelled")
	errHandlerBusy    = errors.New("error handler is busy: too many failures wait for it")
	errHandlerClosed  = errors.New("the scheduler stopped before its error handler was told")
)

// failure is an execution that failed, on its way to the job's error handler.
type failure struct {
	handler job.ErrorHandler
	context job.ShardingContext
	err     error
	scope   *roundScope
}

// failures tells a job's error handler of executions that failed, after their ends are recorded and
// apart from everything else. It has goroutines only while there are failures. What a handler can cost
// is bounded: two calls at once, and as many goroutines that never return if it hangs.
type failures struct {
	timeout time.Duration
	last    func() context.Context     // ends when no handler is waited for any more
	result  func(f failure, err error) // hears of every call; safe for concurrent use

	mu      sync.Mutex
	ctx     context.Context // of calls; nil before the first
	cancel  context.CancelCauseFunc
	queue   []failure
	working int
	closing chan struct{} // closed with closed; nil before the first failure
	closed  bool
	hang    int // calls that did not return when a stop ended their contexts
	untold  int // failures that the stop kept from being told
	workers sync.WaitGroup
}

// tell hands a failure over; ctx bounds all calls.
func (d *failures) tell(ctx context.Context, f failure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		d.untold++
		d.result(f, errHandlerClosed)
		return
	case len(d.queue) >= failuresToKeep:
		d.result(f, errHandlerBusy)
		return
	case d.ctx == nil:
		d.ctx, d.cancel = context.WithCancelCause(ctx)
		d.closing = make(chan struct{})
	}
	d.queue = append(d.queue, f)
	if d.working < handlersAtOnce {
		d.working++
		d.workers.Go(d.work)
	}
}

func (d *failures) work() {
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
func (d *failures) leave(f failure) {
	d.mu.Lock()
	d.untold++
	d.mu.Unlock()
	d.result(f, errHandlerClosed)
}

// giveUp tells the handler nothing more: it hangs, and the scheduler stops.
func (d *failures) giveUp() { d.cancel(ErrStopped) }

// pending returns how many failures handlers are being told of, and how many wait.
func (d *failures) pending() (working, queued int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.working, len(d.queue)
}

func (d *failures) take() (failure, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queue) == 0 {
		d.queue = nil
		d.working--
		return failure{}, false
	}
	f := d.queue[0]
	d.queue = d.queue[1:]
	return f, true
}

// call has the handler told, and bounds how long that takes. A handler that does not return keeps its
// place, so that there are never more of them, until the scheduler stops; then it is false.
func (d *failures) call(f failure) bool {
	ctx, cancel := context.WithTimeoutCause(d.ctx, d.timeout, ErrHandlerTimeout)
	defer cancel()
	done, gone := make(chan error, 1), make(chan struct{})
	job.Go(func() error { return f.handler.HandleError(ctx, f.context.JobName, f.context, f.err) }, func(err error) {
		done <- err
		close(gone)
	})
	select {
	case err := <-done:
		d.result(f, err)
		return true
	case <-ctx.Done():
	}
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	select {
	case err := <-done:
		if err != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		d.result(f, err)
		return true
	case <-timer.C:
	case <-d.last().Done():
	}
	if d.ctx.Err() != nil {
		d.mu.Lock()
		d.hang++
		d.mu.Unlock()
	}
	d.result(f, errHandlerHangs)
	select {
	case <-gone:
		return true
	case <-d.ctx.Done():
	case <-d.closing:
	}
	return false
}

// close takes no more failures, waits for those that it has until the context of the calls has ended, and
// returns when no goroutine of its own remains: how many calls the stop gave up, and how many failures it
// kept from being told.
func (d *failures) close() (hang, untold int) {
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
		cancel(ErrStopped)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.hang, d.untold
}
