package scheduler

import (
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
)

// failed hands an execution that failed to the job's error handler.
func (r *runner) failed(e *execution) {
	r.failures.Tell(notify.Failure{
		Handler: e.handler, Context: e.context, Err: e.err,
		Told: func(err error) { r.handled(e.scope, e.context, e.err, err) },
	})
}

// handled deals with what an error handler answered that was told of a failure.
func (r *runner) handled(scope *roundScope, sc job.ShardingContext, failure, err error) {
	switch {
	case err == nil:
	case errors.Is(err, notify.ErrHandlerClosed):
		r.s.observer.observe(HandlerEvent{Context: sc, Err: failure, Handler: err})
	case errors.Is(err, job.ErrFailRound):
		r.box.Post(func() { r.failRound(scope, err) })
	default:
		r.log.ErrorContext(r.life, "error handler failed", logItem, sc.Item, logFire, sc.Fire,
			logToken, sc.Token, logError, err, "failure", failure)
		r.s.observer.observe(HandlerEvent{Context: sc, Err: failure, Handler: err})
	}
}

// closeFailures waits until the error handlers have been told of everything, at most until the stop
// timeout is over and a last moment.
func (s *Scheduler) closeFailures() {
	s.mu.Lock()
	runners := s.list()
	s.mu.Unlock()
	for _, r := range runners {
		s.closeHandler(r)
	}
}

// closeHandler is closeFailures for one job.
func (s *Scheduler) closeHandler(r *runner) {
	hang, untold := r.failures.Close()
	s.curfew.Note(fmt.Sprintf("job %q: error handler", r.name), hang, untold)
}
