package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// gate keeps an execution's code from being called until the started hook of its round has run.
type gate struct {
	key  jobtree.RoundKey
	late bool          // it has waited as long as it may
	open chan struct{} // closed when the code may be called
}

// holdBack has a round's executions wait for the started hook, if the job has one.
func (r *runner) holdBack(members []*execution) {
	started := r.startedWithin()
	if started == 0 {
		return
	}
	var held []*execution
	for _, e := range members {
		if !e.monitored() {
			continue
		}
		e.gate = &gate{key: keyOf(e.record), open: make(chan struct{})}
		r.once.waiting[e] = struct{}{}
		held = append(held, e)
	}
	time.AfterFunc(started, func() { r.box.Post(func() { r.waitedEnough(held) }) })
}

// startedWithin returns how long executions wait for the started hook; 0 if there is none.
func (r *runner) startedWithin() time.Duration {
	if r.once == nil || r.declared.once.AllStarted == nil {
		return 0
	}
	return r.declared.once.StartedWithin
}

func (r *runner) waitedEnough(held []*execution) {
	for _, e := range held {
		if _, waits := r.once.waiting[e]; waits {
			e.gate.late = true
			r.log.WarnContext(r.life, "item runs without the started hook: its round did not come together in time",
				logItem, e.item, logFire, e.context.Fire)
		}
	}
}

// releaseWaiting lets executions go whose round's started barrier is settled, or is not theirs any
// more. Code starts only under a session that is in order.
func (r *runner) releaseWaiting() {
	if len(r.once.waiting) == 0 || !r.attached.Connected() {
		return
	}
	b := r.state.Barrier(jobtree.PhaseStarted).Round.Value
	for e := range r.once.waiting {
		passed := b.Covers(e.gate.key) && (!sameRound(b.Key(), e.gate.key) || b.Outcome != "")
		if passed || e.gate.late {
			close(e.gate.open)
			delete(r.once.waiting, e)
		}
	}
}

// forgetWaiting takes an execution off the list that has ended, however.
func (r *runner) forgetWaiting(e *execution) {
	if r.once != nil {
		delete(r.once.waiting, e)
	}
}

// keyOf returns which round of the whole job the current execution of a record is part of.
func keyOf(record jobtree.Record) jobtree.RoundKey {
	if fire := record.Current.Fire; !fire.IsZero() {
		return jobtree.RoundKey{Fire: fire}
	}
	return jobtree.RoundKey{Trigger: record.Trigger}
}

func sameRound(a, b jobtree.RoundKey) bool { return a.Trigger == b.Trigger && a.Fire.Equal(b.Fire) }
