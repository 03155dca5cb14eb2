package rounds

import (
	"iter"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/admission"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// turns are the items of a job that wait until this process may begin them, and those that may now.
type turns struct {
	waiting [admission.Urgencies][]int // in the order in which they came
	having  []*item
}

// empty tells whether no item waits, and none may begin.
func (t *turns) empty() bool {
	return len(t.waiting[admission.OnTimeFirst])+len(t.waiting[admission.MissedLast])+len(t.having) == 0
}

// urgencyOf returns how urgent the begin of what is due next is.
func urgencyOf(d policy.Due) admission.Urgency {
	if _, source := d.Next(); source == job.Misfire {
		return admission.MissedLast
	}
	return admission.OnTimeFirst
}

// ranks are the registry's names for urgencies.
var ranks = [admission.Urgencies]registry.Rank{admission.OnTimeFirst: registry.RankWork, admission.MissedLast: registry.RankBacklog}

// admit tells whether an item may begin what is due of it, and the turn of that. If not, the item waits,
// or it is too late for the fire.
func (r *Rounds) admit(v room.View, round *Round, it *item) (registry.Turn, bool) {
	u, now := urgencyOf(it.Due), time.Now()
	turn := registry.Turn{Rank: ranks[u], Share: r.ports.Job()}
	usual, _ := r.ports.Admission().Expected()
	if until := v.Rules.Until(it.Due, usual); !until.IsZero() {
		left := until.Sub(round.now)
		if left <= 0 {
			if !it.Due.OnTime.IsZero() { // as a missed one it may begin all the same
				r.toConsider.Add(it.number)
				r.ports.DecideAgain()
			}
			r.miss(it, v.Rules.Miss(it.Due))
			return turn, false
		}
		turn.Until = now.Add(left) // by the monotonic clock
	}
	// A missed fire may begin at any time. It asks again rather than hold up its runner.
	if again := now.Add(policy.LateAfter); u == admission.MissedLast && (turn.Until.IsZero() || turn.Until.After(again)) {
		turn.Until = again
	}
	if it.permit == noPermit && !r.takeTurn(it, u) {
		return turn, false
	}
	if it.permit == permittedAhead {
		turn.Rank = registry.RankWork
	}
	return turn, true
}

// takeTurn lets an item begin now if nobody waits, or else wait for its turn.
func (r *Rounds) takeTurn(it *item, u admission.Urgency) bool {
	if it.queued {
		return false
	}
	if r.ports.Admission().Take(r, u) {
		r.have(it, permitted)
		return true
	}
	r.queue(it, u)
	return false
}

// queue notes that an item waits for its turn.
func (r *Rounds) queue(it *item, u admission.Urgency) {
	it.queued = true
	r.makeTurns()
	r.turns.waiting[u] = append(r.turns.waiting[u], it.number)
}

// queueAtOnce lets an item wait for its turn whose fire has just come, without a decision: beyond capacity a decision
// could but come to the same. It does so only if nothing about the item is to be decided but that begin,
// and only if there is no room for it.
func (r *Rounds) queueAtOnce(v room.View, it *item) bool {
	if it.permit != noPermit || it.running != nil || it.MayBeTold() || len(it.Due.Missed) > 0 || v.Rules.TooLate(it.Due.OnTime, v.Clock.Now()) {
		return false
	}
	if v.Applied < it.wrote || r.ports.Peers().MaybeLost(it.number) || !plainlyIdle(v.State.Item(it.number)) || !r.ports.Admission().Wait(r, admission.OnTimeFirst) {
		return false
	}
	r.queue(it, admission.OnTimeFirst)
	return true
}

// plainlyIdle tells whether nothing runs of an item, and nothing is owed of it.
func plainlyIdle(node jobtree.Item) bool {
	record := node.Record
	if node.Running.Exists() || node.Remains.Exists() || node.Failover.Exists() || node.Misfire.Exists() || record.Err != nil {
		return false
	}
	switch record.Value.State {
	case "", jobtree.ItemIdle, jobtree.ItemInterrupted:
		return record.Value.Current == nil || record.Value.Current.Outcome != jobtree.NotStarted
	default:
		return false
	}
}

// mayQueueAtOnce tells whether fires of the job are all that there is to begin of its items, now.
func (r *Rounds) mayQueueAtOnce(v room.View) bool {
	return !v.Config.Unmonitored && !v.ClockRefused && !v.Leaving && v.Attached.Connected() && !v.State.Triggered().Exists() &&
		r.MayBegin(v) && r.ports.Peers().MayBegin(v)
}

// makeTurns is for the first item that waits or may begin.
func (r *Rounds) makeTurns() {
	if r.turns == nil {
		r.turns = new(turns)
	}
}

// have notes that an item may begin.
func (r *Rounds) have(it *item, p permit) {
	it.permit = p
	r.makeTurns()
	r.turns.having = append(r.turns.having, it)
}

// Granted implements [admission.Applicant].
func (r *Rounds) Granted(g admission.Grant) bool {
	return r.ports.Post(func() { r.useTurns(r.ports.Look(), g) })
}

// Withdraw gives up the turns of all items, and what they wait for. The job goes.
func (r *Rounds) Withdraw() { r.ports.Admission().Withdraw(r) }

// Place implements [admission.Applicant].
func (r *Rounds) Place() *admission.Place { return &r.place }

func permitOf(g admission.Grant) permit {
	if g.Ahead {
		return permittedAhead
	}
	return permitted
}

// useTurns gives turns to the first items that wait and still have something due.
func (r *Rounds) useTurns(v room.View, g admission.Grant) {
	r.makeTurns()
	waiting, n, now := &r.turns.waiting[g.Urgency], g.Begins, v.Clock.Now()
	usual, queue := r.ports.Admission().Expected()
	for n > 0 && len(*waiting) > 0 {
		it := r.items[(*waiting)[0]]
		*waiting = (*waiting)[1:]
		if it == nil || !it.queued {
			continue
		}
		it.queued = false
		r.rouse(it)
		if v.Usable { // else there are no rules to judge by
			r.expire(v, it, now, true)
			r.passOver(v, it, now.Add(queue), usual)
		}
		switch {
		case it.Due.None() || it.running != nil || it.permit != noPermit:
			r.toConsider.Add(it.number)
		case urgencyOf(it.Due) != g.Urgency:
			r.takeTurn(it, urgencyOf(it.Due))
			r.toConsider.Add(it.number)
		default:
			n--
			r.have(it, permitOf(g))
			r.toConsider.Add(it.number)
		}
	}
	if len(*waiting) == 0 {
		*waiting = nil
	}
	r.ports.Admission().Decline(r, g, n)
}

// passOver applies the policy to a fire on time for which the turn comes too late: its begin would still wait in the
// registry's queue when it makes no sense any more.
func (r *Rounds) passOver(v room.View, it *item, sent time.Time, usual time.Duration) {
	if it.Due.OnTime.IsZero() || len(it.Due.Missed) > 0 {
		return
	}
	if until := v.Rules.Until(it.Due, usual); !until.IsZero() && !sent.Before(until) {
		r.miss(it, v.Rules.Miss(it.Due))
	}
}

// miss sets what is due of an item by now, and counts a fire that was on time before and is not any more.
func (r *Rounds) miss(it *item, due policy.Due) {
	if !it.Due.OnTime.IsZero() && due.OnTime.IsZero() {
		r.ports.Load().Drop(1)
		if !r.lacked {
			r.lacked, r.lead = true, int32(it.number)
		}
	}
	it.Due = due
}

// inTurn yields items, which are ascending, in the order in which they take their turns: it begins where turns came too late
// the last time. From the lowest on, beyond capacity, it is always the same items whose turn comes too late.
func (r *Rounds) inTurn(items []int) iter.Seq[int] {
	return func(yield func(int) bool) {
		first, _ := slices.BinarySearch(items, int(r.lead))
		for _, part := range [2][]int{items[first:], items[:first]} {
			for _, n := range part {
				if !yield(n) {
					return
				}
			}
		}
	}
}

// use notes that an item's turn goes with the batch.
func (ro *Round) use(it *item) {
	if it.permit != noPermit {
		it.permit = noPermit
		ro.admitted++
	}
}

// ReturnTurns gives up the turns that a decision did not use.
func (r *Rounds) ReturnTurns() {
	if r.turns == nil {
		return
	}
	unused := 0
	for _, it := range r.turns.having {
		if it.permit != noPermit {
			it.permit = noPermit
			unused++
		}
	}
	r.turns.having = nil
	if r.turns.empty() {
		r.turns = nil
	}
	r.ports.Admission().GiveBack(r, unused)
}

// notSent marks an item to be looked at again whose begin the registry did not send in time.
func (r *Rounds) notSent(v room.View, it *item) {
	r.expire(v, it, v.Clock.Now(), true)
	r.toConsider.Add(it.number)
	r.ports.DecideAgain()
}

// expire applies the policy to what is due of an item. It counts what came too late because the item had to wait
// for its turn.
func (r *Rounds) expire(v room.View, it *item, now time.Time, waited bool) {
	due := v.Rules.Expire(it.Due, now)
	if waited {
		r.miss(it, due)
	}
	it.Due = due
}
