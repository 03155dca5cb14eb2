package rounds

import (
	"iter"
	"time"

	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Tick notes a fire for every item that is mine, and for those that run here and are another's by now:
// their ends say what they missed. kept tells that it stands for ticks that were counted by [Rounds.Kept]. decide tells
// whether there is anything to decide now: beyond its capacity, a process has many items that only wait for
// their turn.
func (r *Rounds) Tick(v room.View, t fires.Tick, kept bool) (decide bool) {
	if !v.Usable {
		r.missed.Unticked()
		return true
	}
	if !v.Rules.Schedule.Next(t.Fire.Add(-1)).Equal(t.Fire) {
		return true // ticked by a cron that was changed while the tick waited for its turn
	}
	t, come := r.inTime(v, t)
	if !come {
		return true
	}
	return r.note(v, t, kept)
}

// note notes a fire whose time has come.
func (r *Rounds) note(v room.View, t fires.Tick, kept bool) (decide bool) {
	if v.Out || !r.attended(v) {
		r.missed.Unticked()
		return true
	}
	decide = r.stale
	r.refreshOwned(v)
	k := r.ticked(v, t)
	if !kept {
		r.Kept()
	}
	k.atOnce = !k.left && r.ports.Admission().Full() && r.mayQueueAtOnce(v)
	for n := range r.itemsToNote(v, k.left) {
		r.noteFire(v, n, &k)
	}
	r.ports.Load().Want(k.wanted)
	r.ports.Load().Drop(k.dropped)
	return decide || k.decide
}

// noting is a fire that is being noted for items, and what has come of that.
type noting struct {
	fire   time.Time
	passed []time.Time // that the same tick stands for, and that are made up one by one
	left   bool        // this instance left before the fire: only what still runs here goes on
	atOnce bool        // items may be given a place among those that wait without another look

	wanted, dropped int  // fires that items want, and fires before that those have dropped for want of their turn
	decide          bool // something may begin
}

// ticked takes in what this clock has seen, before any item's fire is noted.
func (r *Rounds) ticked(v room.View, t fires.Tick) noting {
	k := noting{fire: t.Fire, left: v.LeftBefore(t.Fire)}
	r.lacked = false
	if k.left || !r.dozing.follows(t.First) {
		r.rouseAll()
	}
	if k.left { // what still runs here goes on
		r.missed.Unticked()
	} else {
		r.ports.Peers().Ticked(v)
		r.missed.Ticked(t, r.isSettled(v))
	}
	if v.Rules.All && t.First.Before(t.Fire) {
		k.passed = v.Rules.Fires(t.First.Add(-1), t.Fire.Add(-1))
	}
	r.dozing.note(k.passed, t.Fire)
	return k
}

// itemsToNote yields my items, unless this instance has left, and those that run here and are not mine any more. Where all
// of them doze, there is nothing to look at.
func (r *Rounds) itemsToNote(v room.View, left bool) iter.Seq[int] {
	return func(yield func(int) bool) {
		if r.dozing.items < len(r.owned) && !left {
			for n := range r.inTurn(r.owned) {
				if !yield(n) {
					return
				}
			}
		}
		if left || len(r.items) > r.dozing.items {
			for n, it := range r.items {
				if it.running != nil && (left || !v.Owns(n)) && !yield(n) {
					return
				}
			}
		}
	}
}

// noteFire notes a fire for an item.
func (r *Rounds) noteFire(v room.View, n int, k *noting) {
	it := r.items[n]
	if it != nil && it.dozes || v.State.Disabled(n) {
		return
	}
	if it == nil {
		it = r.item(n)
	}
	k.wanted++
	if it.queued && !it.Due.OnTime.IsZero() {
		k.dropped++ // nothing but its turn kept it from beginning since the fire before
	}
	it.Tick(v.Rules.Policy, k.fire, k.passed)
	r.leaveTheirs(it)        // who was away may hear of a fire later than of what became of the item
	if it.begunFor(k.fire) { // by a head start
		it.Due = it.Due.After(k.fire)
		return
	}
	if !it.queued && (!k.atOnce || !r.queueAtOnce(v, it)) {
		r.toConsider.Add(n)
		k.decide = true
	}
	if it.queued && it.running == nil && !k.left {
		r.doze(it, v.Rules, k.fire)
	}
}

// isSettled is [room.View.Settled], which looks at all items: it is found out anew only after a step that may have changed
// the answer, and executions do not.
func (r *Rounds) isSettled(v room.View) bool {
	if !r.settledKnown {
		r.settled, r.settledKnown = v.Settled(), true
	}
	return r.settled
}

// attended tells whether a fire that comes now has to be run, because somebody may run items. One that
// comes while all servers are disabled has not happened, now or later.
func (r *Rounds) attended(v room.View) bool {
	return v.ServerEnabled() || v.State.AnybodyEnabled()
}
