package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/wholeround"
)

// round is what one decision begins.
type round struct {
	id      string
	now     time.Time
	request registry.Revision // to run by hand; 0 = none
	refuse  bool              // this process's clock is too far off to run a fire
	batch   room.Batch
	begun   []*execution // that are to run

	admitted int // begins in the batch for which the items had to have their turns

	newest wholeround.Newest // of those that are to begin
	next   time.Time         // the job's fire after this round; see [runner.nextFire]
}

// openRound is a round of which something still runs.
type openRound struct {
	event RoundEvent
	open  int // executions that have not ended

	listening *roundListening // nil if the job has no listeners
}

// runRound runs what has begun, as a round. The observer hears of the round first.
func (r *runner) runRound(round *round) {
	if len(round.begun) == 0 {
		return
	}
	o := &openRound{open: len(round.begun), event: RoundEvent{
		ID: round.id, Job: r.name, TaskID: r.task, Items: make([]int, len(round.begun)), Began: round.now,
	}}
	for i, e := range round.begun {
		e.round = o
		o.event.Items[i] = e.item
	}
	shareScope(round.begun)
	r.s.observer.observe(o.event)
	r.beforeRun(o, round.begun)
	r.holdBack(round.begun)
	for _, e := range round.begun {
		r.run(e)
	}
}

// leaveRound takes an execution that has ended out of its round, and reports the round's end with
// the last.
func (r *runner) leaveRound(e *execution, refused error) {
	r.whole.Forget(e.gate)
	o := e.round
	if err := e.err; err != nil || refused != nil {
		if o.event.Failed == nil {
			o.event.Failed = make(map[int]error)
		}
		if err == nil {
			err = refused
		}
		o.event.Failed[e.item] = err
	}
	if e.ended.After(o.event.Ended) {
		o.event.Ended = e.ended
	}
	o.listening.noteResult(e, refused)
	if o.open--; o.open == 0 {
		r.s.observer.observe(o.event)
		r.afterRun(o)
	}
}

// nextFire returns the job's next fire after a round, for the records to show; zero if there is none,
// or it depends on the end of the run. It is found once for all items.
func (r *runner) nextFire(round *round) time.Time {
	if round.next.IsZero() && r.settings.Rules.Delay == 0 {
		round.next = r.settings.Rules.Schedule.Next(round.now)
	}
	return round.next
}
