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

// StartWaiting starts what waits and may run, and gives up what may not run any more: then it never
// was, and the fire is another instance's or a later session's.
func (x *Executions) StartWaiting(v room.View) {
	w := &x.executor
	for len(w.waiting) > 0 {
		e := w.waiting[0]
		switch {
		case v.Leaving || e.Under.Work.Err() != nil:
			w.waiting = w.waiting[1:]
			x.giveBack(e)
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

// giveBackMoved gives up an execution that waits here although its item belongs to another instance by
// now, or to none. A run by hand stays: the request may be answered already where the item is.
func (x *Executions) giveBackMoved(v room.View, e *Execution) {
	i := slices.Index(x.executor.waiting, e)
	if i < 0 || v.Usable && v.Owns(e.Item) && !v.State.Disabled(e.Item) || e.Context.Source == job.Manual {
		return
	}
	x.executor.waiting = slices.Delete(x.executor.waiting, i, i+1)
	x.giveBack(e)
}

// giveBack ends an execution that has begun and whose code was not called. Its record says so, and whoever owns the
// item runs its fire as a missed one.
func (x *Executions) giveBack(e *Execution) {
	e.Undo = true
	x.Returned(e, x.ports.Now(), ErrNotStarted)
	x.endsGather = false // before the instance leaves, whose successors need to see it
}

func (x *Executions) reportWaiting() {
	w := &x.executor
	if len(w.waiting) == w.told {
		return
	}
	w.told = len(w.waiting)
	x.ports.Report().Waiting(w.told, x.active, x.maxRunning)
}
