package executions

import (
	"log/slog"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// close forgets an execution whose end was recorded or refused for good.
func (x *Executions) close(e *Execution, o registry.Outcome) {
	x.rounds.Closed(e, o)
	x.reportEnd(e, o.Err)
	x.rounds.Over(o)
}

func (x *Executions) reportEnd(e *Execution, refused error) {
	attrs := []any{room.KeyItem, e.Item, room.KeyFire, e.Context.Fire, room.KeySource, string(e.Context.Source), room.KeyToken, e.Context.Token}
	switch {
	case e.Undo: // whether or not that was recorded: nobody heard of its start
		x.ports.Tell(slog.LevelWarn, "item had begun and was not run: the confirmation came too late, or its turn did", nil, attrs...)
		if e.round != nil {
			x.leaveRound(e, refused)
		}
		return
	case room.Hopeless(refused):
		x.ports.Tell(slog.LevelError, "end refused: the registry does not take it, the item stays marked until the session ends", refused, attrs...)
	case refused != nil && e.cutShort():
		x.ports.Log().WarnContext(x.ports.Life(), "item was cut short, and taken away before that could be recorded", append(attrs, room.KeyError, e.err, room.KeyReason, refused.Error())...)
	case refused != nil:
		x.ports.Log().ErrorContext(x.ports.Life(), "item has finished, and its end could not be recorded: the execution was taken away",
			append(attrs, room.KeyError, refused)...)
	case e.err == nil:
		x.ports.Log().DebugContext(x.ports.Life(), "item done", attrs...)
	case e.cutByRound() || e.cutShort():
		x.ports.Log().WarnContext(x.ports.Life(), "item was cut short", append(attrs, room.KeyError, e.err)...)
	default:
		x.failed(e)
	}
	if e.started {
		run := e.run()
		run.Ended, run.Err, run.CutShort, run.Refused = e.ended, e.err, e.cutShort(), refused
		x.ports.Report().Item(run)
	}
	x.leaveRound(e, refused)
}
