package executions

import (
	"context"
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// rest is what becomes of the work that an execution has left as it made room.
type rest uint8

const (
	restUnsettled rest = iota
	restRuns           // it is run again, by whoever has the item
	restWaits          // for the next fire
	restIsOver         // of a stream that was switched off: its next fire has nothing of it
)

// heed returns code that takes note where it comes to an end as it was told to, with work left. To whoever calls it, it has
// succeeded then, so that nobody tries again. Where nobody had told it to, its error says so.
func (p *progress) heed(code job.HandlerFunc) job.HandlerFunc {
	return func(ctx context.Context, sc job.ShardingContext) error {
		err := code(ctx, sc)
		if !saysYielded(err) {
			return err
		}
		if !execution.Told(ctx, p.yield) {
			return fmt.Errorf("nobody had told the code to make room: %w", err)
		}
		p.yielded = err
		return nil
	}
}

// saysYielded tells whether an error is [job.ErrYielded]. The methods of one may panic; it is no such error then.
func saysYielded(err error) (says bool) {
	defer func() { _ = recover() }()
	return errors.Is(err, job.ErrYielded)
}

// settleRest decides, once, what becomes of what an execution has left. Where it made room because its item is elsewhere, or
// not to run any more, whoever may run the item goes on with it. A stream that was switched off is over, and has succeeded
// unless its code says more than that there was work left. Where others share the job that wait for items to stop, whoever
// claims a lost execution runs it at once, and a leader would wait for that again and again: what made room for such a leader
// is left to the next fire.
func (x *Executions) settleRest(v room.View, e *Execution) {
	if !e.yielded || e.rest != restUnsettled {
		return
	}
	switch {
	case e.scope != nil && e.scope.failed != nil: // all that ends in its round has failed
		e.yielded = false
	case streamIsOff(v, e) && e.err == job.ErrYielded: //nolint:errorlint // what is joined with it, or around it, is not dropped
		e.yielded, e.err = false, nil
	case streamIsOff(v, e):
		e.rest = restIsOver
	case e.Monitored() && e.Record.Current.Failover && (!x.ports.Traits().Borrow || e.goes || x.goes(v, e)):
		e.rest = restRuns
	default:
		e.rest = restWaits
	}
}

// tellRest logs what becomes of what an execution has left.
func (x *Executions) tellRest(e *Execution) {
	attrs := append(e.attrs(), room.KeyError, e.err)
	switch {
	case e.rest == restRuns:
		x.ports.Log().InfoContext(x.ports.Life(), "item made room, and what is left of it runs where the item is", attrs...)
		return
	case e.rest == restIsOver:
		attrs = append(attrs, room.KeyReason, "the stream was switched off")
	case !e.Monitored():
		attrs = append(attrs, room.KeyReason, "the job is not monitored")
	case !e.Record.Current.Failover:
		attrs = append(attrs, room.KeyReason, "failover is off")
	default:
		attrs = append(attrs, room.KeyReason, "it made room for a leader that waits until items stop")
	}
	x.ports.Log().WarnContext(x.ports.Life(), "item made room, and what is left of it waits for the next fire", attrs...)
}
