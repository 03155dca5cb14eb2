package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/misfires"
)

// turns are the items of a job that wait until this process may begin them, and those that may now.
type turns struct {
	waiting [urgencies][]int // in the order in which they came
	having  []*item
}

// urgencyOf returns how urgent the begin of what is due next is.
func urgencyOf(d misfires.Due) urgency {
	if _, source := d.Next(); source == job.Misfire {
		return missedLast
	}
	return onTimeFirst
}

// ranks are the registry's names for urgencies.
var ranks = [urgencies]registry.Rank{onTimeFirst: registry.RankWork, missedLast: registry.RankBacklog}

// admit tells whether an item may begin what is due of it, and the turn of that. If not, the item waits,
// or it is too late for the fire.
func (r *runner) admit(round *round, it *item) (registry.Turn, bool) {
	u, now := urgencyOf(it.Due), time.Now()
	turn := registry.Turn{Rank: ranks[u], Share: r.name}
	if until := r.settings.Rules.Until(it.Due, r.s.admission.confirmation()); !until.IsZero() {
		left := until.Sub(round.now)
		if left <= 0 {
			if !it.Due.OnTime.IsZero() { // as a missed one it may begin all the same
				r.toConsider.Note([]int{it.number}, false)
				r.box.Post(func() {})
				r.s.load.drop(1)
			}
			it.Due = r.settings.Rules.Miss(it.Due)
			return turn, false
		}
		turn.Until = now.Add(left) // by the monotonic clock
	}
	// A missed fire may begin at any time. It asks again rather than hold up its runner.
	if again := now.Add(misfires.LateAfter); u == missedLast && (turn.Until.IsZero() || turn.Until.After(again)) {
		turn.Until = again
	}
	if !it.permit && !r.takeTurn(it, u) {
		return turn, false
	}
	return turn, true
}

// takeTurn has an item begin now if nobody waits, or else wait for its turn.
func (r *runner) takeTurn(it *item, u urgency) bool {
	if it.queued {
		return false
	}
	if r.s.admission.take(r, u) {
		r.have(it)
		return true
	}
	it.queued = true
	r.turns.waiting[u] = append(r.turns.waiting[u], it.number)
	return false
}

// have notes that an item may begin.
func (r *runner) have(it *item) {
	it.permit = true
	r.turns.having = append(r.turns.having, it)
}

// granted implements [applicant].
func (r *runner) granted(u urgency, n int) bool {
	return r.box.Post(func() { r.useTurns(u, n) })
}

// useTurns gives turns to the first items that wait and still have something due.
func (r *runner) useTurns(u urgency, n int) {
	waiting, now := &r.turns.waiting[u], r.s.now()
	for n > 0 && len(*waiting) > 0 {
		it := r.items[(*waiting)[0]]
		*waiting = (*waiting)[1:]
		if it == nil || !it.queued {
			continue
		}
		it.queued = false
		r.expire(it, now, true)
		switch {
		case it.Due.None() || it.running != nil || it.permit:
			r.toConsider.Note([]int{it.number}, false)
		case urgencyOf(it.Due) != u:
			r.takeTurn(it, urgencyOf(it.Due))
			r.toConsider.Note([]int{it.number}, false)
		default:
			n--
			r.have(it)
			r.toConsider.Note([]int{it.number}, false)
		}
	}
	if len(*waiting) == 0 {
		*waiting = nil
	}
	r.s.admission.giveBack(n)
}

// use notes that an item's turn goes with the batch.
func (ro *round) use(it *item) {
	if it.permit {
		it.permit = false
		ro.admitted++
	}
}

// returnTurns gives up the turns that a decision did not use.
func (r *runner) returnTurns() {
	unused := 0
	for _, it := range r.turns.having {
		if it.permit {
			it.permit = false
			unused++
		}
	}
	r.turns.having = nil
	r.s.admission.giveBack(unused)
}

// notSent has an item looked at again whose begin the registry did not send in time.
func (r *runner) notSent(it *item) {
	r.expire(it, r.s.now(), true)
	r.toConsider.Note([]int{it.number}, false)
	r.box.Post(func() {})
}

// expire has what is due of an item follow the policy. What came too late because the item had to wait
// for its turn is counted.
func (r *runner) expire(it *item, now time.Time, waited bool) {
	before := it.Due
	it.Due = r.settings.Rules.Expire(before, now)
	if waited && !before.OnTime.IsZero() && it.Due.OnTime.IsZero() {
		r.s.load.drop(1)
	}
}
