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

// attrs say in the log which execution it is.
func (e *Execution) attrs() []any {
	return []any{room.KeyItem, e.Item, room.KeyFire, room.FireOf(e.Context.Fire), room.KeySource, string(e.Context.Source), room.KeyToken, e.Context.Token}
}

func (x *Executions) reportEnd(e *Execution, refused error) {
	switch {
	case e.ahead: // as happens whenever items move
		x.ports.Log().DebugContext(x.ports.Life(), "item had begun ahead of its fire, and was given back before that came", e.attrs()...)
		return
	case e.Undo: // whether or not that was recorded: nobody heard of its start
		x.ports.Tell(slog.LevelWarn, "item had begun and was not run: the confirmation came too late, or its turn did", nil, e.attrs()...)
		if e.round != nil {
			x.leaveRound(e, refused)
		}
		return
	case room.Hopeless(refused):
		x.ports.Tell(slog.LevelError, "end refused: the registry does not take it, the item stays marked until the session ends", refused, e.attrs()...)
	case refused != nil && (e.cut != nil || e.yielded):
		x.ports.Log().WarnContext(x.ports.Life(), "item was cut short, and taken away before that could be recorded", append(e.attrs(), room.KeyError, e.err, room.KeyReason, refused.Error())...)
	case refused != nil:
		x.ports.Log().ErrorContext(x.ports.Life(), "item has finished, and its end could not be recorded: the execution was taken away",
			append(e.attrs(), room.KeyError, refused)...)
	case e.err == nil:
		if x.ports.Log().Enabled(x.ports.Life(), slog.LevelDebug) { // nearly all come here, and few are written down
			x.ports.Log().DebugContext(x.ports.Life(), "item done", e.attrs()...)
		}
	case e.yielded:
		x.tellRest(e)
	case e.cutByRound() || e.cut != nil:
		x.ports.Log().WarnContext(x.ports.Life(), "item was cut short", append(e.attrs(), room.KeyError, e.err)...)
	default:
		x.failed(e)
	}
	if e.started {
		run := e.run()
		if e.atGate() { // it was cut off while it waited
			x.ports.Report().Item(run)
		}
		run.Ended, run.Err, run.CutShort, run.Refused = e.ended, e.err, e.cut != nil || e.yielded, refused
		x.ports.Report().Item(run)
	}
	if e.round != nil { // else its fire was still to come
		x.leaveRound(e, refused)
	}
}
