package executions

import (
	"time"

	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// openRound is a round in which something still runs.
type openRound struct {
	event Round
	open  int // executions that have not ended

	listening *roundListening // nil if the job has no listeners
}

// RunRound runs what has begun, as a round. The observer hears of the round first.
func (x *Executions) RunRound(v room.View, id, task string, now time.Time, begun []*Execution) {
	o := &openRound{open: len(begun), event: Round{ID: id, TaskID: task, Items: make([]int, len(begun)), Began: now}}
	for i, e := range begun {
		e.round = o
		o.event.Items[i] = e.Item
	}
	shareScope(begun)
	x.ports.Report().Round(o.event)
	x.beforeRun(o, begun)
	for _, e := range begun {
		x.run(v, e)
	}
}

// leaveRound takes an execution that has ended out of its round, and reports the round's end with
// the last.
func (x *Executions) leaveRound(e *Execution, refused error) {
	if e.Forget != nil {
		e.Forget()
	}
	o := e.round
	if err := e.err; err != nil || refused != nil {
		if o.event.Failed == nil {
			o.event.Failed = make(map[int]error)
		}
		if err == nil {
			err = refused
		}
		o.event.Failed[e.Item] = err
	}
	if e.ended.After(o.event.Ended) {
		o.event.Ended = e.ended
	}
	o.listening.noteResult(e, refused)
	if o.open--; o.open == 0 {
		x.ports.Report().Round(o.event)
		x.afterRun(o)
	}
}
