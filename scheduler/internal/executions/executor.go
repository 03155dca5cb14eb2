package executions

import (
	"slices"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// executor bounds how many items of a job run at once in this process. Items beyond the bound have
// begun and wait: a round is one request however many items it has, and an item that waits is not late.
// Each waits at most once, because it begins again only after its end, so the queue cannot grow
// beyond the items of the instance.
type executor struct {
	waiting []*Execution // in the order in which they begin
	told    int          // how many waited when the observer was told
}

// run executes an item, at once or when it is its turn.
func (x *Executions) run(v room.View, e *Execution) {
	x.executor.waiting = append(x.executor.waiting, e)
	x.StartWaiting(v)
}

// hasRoom tells whether one more item may run.
func (x *Executions) hasRoom() bool {
	return x.maxRunning <= 0 || x.active < x.maxRunning
}

// StartWaiting starts what waits and may run, and gives up what may not run any more: then it never was, and the fire is
// another instance's or a later session's. What nobody would run then keeps its turn, also while this instance leaves.
func (x *Executions) StartWaiting(v room.View) {
	w := &x.executor
	if len(w.waiting) > 0 && (v.Leaving || v.BlindTooLong) {
		w.waiting = slices.DeleteFunc(w.waiting, func(e *Execution) bool {
			back := e.recalled(v)
			if back {
				x.undo(e)
			}
			return back
		})
	}
	for len(w.waiting) > 0 {
		e := w.waiting[0]
		switch {
		case e.Under.Work.Err() != nil:
			w.waiting = w.waiting[1:]
			x.giveUp(e, e.recalled(v))
		case e.Under.Connected() && x.hasRoom():
			w.waiting = w.waiting[1:]
			x.execute(e)
			x.tellYield(v, e) // it may have become true while it waited
		default:
			x.reportWaiting()
			return
		}
	}
	w.waiting = nil
	x.reportWaiting()
}

// recalled tells whether somebody runs an execution later that is given back now. It may be too old for that by now, and its
// job may have another policy than when it began, or none that is known while it pauses.
func (e *Execution) recalled(v room.View) bool {
	return e.Recalled && (!v.Usable || e.Context.Source == job.Failover || v.Rules.Recalls(e.Context.Fire, v.Clock.Now()))
}

// undoMoved gives up an execution that waits here although its item is not to run any more, or belongs to another
// instance by now, or to none, which runs it then. A run by hand stays: the request may be answered already where the item is.
func (x *Executions) undoMoved(v room.View, e *Execution) {
	i := slices.Index(x.executor.waiting, e)
	if i < 0 || e.Context.Source == job.Manual || !mustNotRun(v, e) && (v.Owns(e.Item) || !e.recalled(v)) {
		return
	}
	x.executor.waiting = slices.Delete(x.executor.waiting, i, i+1)
	x.undo(e)
}

// TakeBack gives up an execution that waits for its fire, if it is not to run any more, and tells whether it is given up, by
// now or since long. What nobody else would run then stays, as it does while it waits for its turn; and what moves when its
// fire has come stays, as it does while it runs.
func (x *Executions) TakeBack(v room.View, e *Execution, came bool) (gone bool) {
	mine := came || v.Owns(e.Item) || x.ports.Traits().Borrow && e.Context.Source == job.Failover
	stays := e.Context.Source == job.Manual || !mustNotRun(v, e) && (mine && !v.Leaving && !v.BlindTooLong || !e.recalled(v))
	if !e.returned && !stays {
		e.ahead = true
		x.undo(e)
	}
	return e.returned
}

// undo ends an execution that has begun and whose code was not called. Its record says so, and whoever owns the
// item runs its fire as a missed one.
func (x *Executions) undo(e *Execution) {
	e.Undo = true
	x.Returned(e, x.ports.Now(), ErrNotStarted)
	x.endsGather = false // before the instance leaves, whose successors need to see it
}

// giveUp ends an execution whose code was not called and must not be, as its session is over. One that nobody would run
// then, but whose item is run again when it was interrupted, is.
func (x *Executions) giveUp(e *Execution, recalled bool) {
	if recalled || !e.Monitored() || !e.Record.Current.Failover {
		x.undo(e)
		return
	}
	x.Returned(e, x.ports.Now(), ErrNotStarted)
}

func (x *Executions) reportWaiting() {
	w := &x.executor
	if len(w.waiting) == w.told {
		return
	}
	w.told = len(w.waiting)
	x.ports.Report().Waiting(w.told, x.active, x.maxRunning)
}
