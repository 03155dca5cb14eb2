package executions

import (
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// failed hands an execution that failed to the job's error handler.
func (x *Executions) failed(e *Execution) {
	x.ports.Failures().Tell(notify.Failure{
		Handler: e.Handler, Context: e.Context, Err: protect.Original(e.err),
		Told: func(err error, failRound bool) { x.handled(e.scope, e.Context, e.err, err, failRound) },
	})
}

// handled deals with an error handler's answer to a failure, which may be that the round fails. It is called on any goroutine.
func (x *Executions) handled(scope *roundScope, sc job.ShardingContext, failure, err error, failRound bool) {
	switch {
	case err == nil:
	case protect.Is(err, notify.ErrHandlerClosed):
		x.ports.Report().HandlerFailed(sc, failure, err)
	case failRound:
		x.ports.Post(func() { x.failRound(scope, err) })
	default:
		x.ports.Log().ErrorContext(x.ports.Life(), "error handler failed", room.KeyItem, sc.Item, room.KeyFire, room.FireOf(sc.Fire),
			room.KeyToken, sc.Token, room.KeyError, err, "failure", failure)
		x.ports.Report().HandlerFailed(sc, failure, err)
	}
}
