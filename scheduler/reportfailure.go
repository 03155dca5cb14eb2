package scheduler

import (
	"errors"
	"log/slog"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
)

func newHandler(handlers *errorhandler.Registry, cfg job.Config, log *slog.Logger) (handler job.ErrorHandler, err error) {
	err = job.Protect(func() error {
		handler, err = handlers.New(cfg, log)
		return err
	})
	return handler, err
}

// failed hands an execution that failed to the job's error handler.
func (r *runner) failed(e *execution) {
	r.failures.tell(r.s.curfew.cut, failure{handler: e.handler, context: e.context, err: e.err, scope: e.scope})
}

// handled deals with what an error handler answered.
func (r *runner) handled(f failure, err error) {
	switch {
	case err == nil:
	case errors.Is(err, errHandlerClosed): // Run's report tells how many
		r.s.observer.observe(HandlerEvent{Context: f.context, Err: f.err, Handler: err})
	case errors.Is(err, job.ErrFailRound):
		r.box.Post(func() { r.failRound(f.scope, err) })
	default:
		r.log.ErrorContext(r.life, "error handler failed", logItem, f.context.Item, logFire, f.context.Fire,
			logToken, f.context.Token, logError, err, "failure", f.err)
		r.s.observer.observe(HandlerEvent{Context: f.context, Err: f.err, Handler: err})
	}
}

// closeFailures waits until the error handlers have been told of everything, at most until the stop
// timeout is over and a last moment.
func (s *Scheduler) closeFailures() {
	s.mu.Lock()
	runners := s.list()
	s.mu.Unlock()
	for _, r := range runners {
		hang, untold := r.failures.close()
		s.curfew.noteHandler(r.name, hang, untold)
	}
}
