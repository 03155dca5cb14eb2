package scheduler

import (
	"slices"

	"github.com/elasticron/elasticron/job"
)

// executor bounds how many items of a job run at once in this process. Items beyond the bound have
// begun and wait: a round is one request however many items it has, and an item that waits is not late.
// Each waits at most once, because it begins again only after its end, so the queue cannot grow
// beyond the items of the instance.
type executor struct {
	waiting []*execution // in the order in which they begin
	told    int          // how many waited when the observer was told
}

// run executes an item, at once or when it is its turn.
func (r *runner) run(e *execution) {
	r.executor.waiting = append(r.executor.waiting, e)
	r.startWaiting()
}

// hasRoom tells whether one more item may run.
func (r *runner) hasRoom() bool {
	return r.settings.MaxRunning <= 0 || r.active < r.settings.MaxRunning
}

// startWaiting starts what waits and may run, and gives up what may not run any more: then it never
// was, and the fire is another instance's or a later session's.
func (r *runner) startWaiting() {
	x := &r.executor
	for len(x.waiting) > 0 {
		e := x.waiting[0]
		switch {
		case r.leaving || e.under.Work.Err() != nil:
			x.waiting = x.waiting[1:]
			r.giveBack(e)
		case e.under.Connected() && r.hasRoom():
			x.waiting = x.waiting[1:]
			r.execute(e)
		default:
			r.reportWaiting()
			return
		}
	}
	x.waiting = nil
	r.reportWaiting()
}

// giveBackMoved gives up an execution that waits here although its item belongs to another instance by
// now, or to none. A run by hand stays: the request may be answered already where the item is.
func (r *runner) giveBackMoved(e *execution) {
	i := slices.Index(r.executor.waiting, e)
	if i < 0 || r.settings.OK && r.owns(e.item) && !r.state.Disabled(e.item) || e.context.Source == job.Manual {
		return
	}
	r.executor.waiting = slices.Delete(r.executor.waiting, i, i+1)
	r.giveBack(e)
}

// giveBack ends an execution that has begun and was not started. Its record says so, and has its fire
// run as a missed one by whoever owns the item.
func (r *runner) giveBack(e *execution) {
	e.undo = true
	r.returned(e, r.s.now(), ErrNotStarted)
	r.endsGather = false // before the instance leaves, whose successors need to see it
}

func (r *runner) reportWaiting() {
	x := &r.executor
	if len(x.waiting) == x.told {
		return
	}
	x.told = len(x.waiting)
	r.s.observer.observe(WaitingEvent{Job: r.name, Waiting: x.told, Running: r.active, Limit: r.settings.MaxRunning})
}
