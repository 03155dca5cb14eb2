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
	result  func(f failure, err error) // hears of every call; safe for concurrent use

	mu      sync.Mutex
	ctx     context.Context // of calls; nil before the first
	cancel  context.CancelCauseFunc
	queue   []failure
	working int
	closed  bool
	workers sync.WaitGroup
}

// tell hands a failure over; life bounds all calls.
func (d *failures) tell(life context.Context, f failure) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		d.result(f, errHandlerClosed)
		return
	case len(d.queue) >= failuresToKeep:
		d.result(f, errHandlerBusy)
		return
	case d.ctx == nil:
		d.ctx, d.cancel = context.WithCancelCause(life)
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
			d.result(f, errHandlerClosed)
			continue
		}
		d.call(f)
	}
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
// place, so that there are never more of them.
func (d *failures) call(f failure) {
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
		return
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
		return
	case <-timer.C:
		d.result(f, errHandlerHangs)
	}
	select {
	case <-gone:
	case <-d.ctx.Done():
	}
}

// close takes no more failures, waits for those that it has until enough is closed, then cancels what
// is left and returns when no goroutine of its own remains.
func (d *failures) close(enough <-chan struct{}) {
	d.mu.Lock()
	d.closed = true
	cancel := d.cancel
	d.mu.Unlock()
	if cancel == nil {
		return // there never was one
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.workers.Wait()
	}()
	select {
	case <-done:
	case <-enough:
	}
	cancel(ErrStopped)
	<-done
}
