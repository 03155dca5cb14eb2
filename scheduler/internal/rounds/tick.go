package rounds

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Tick notes a fire for every item that is mine, and for those that run here and are another's by now:
// their ends say what they missed. kept tells that it stands for ticks that were counted by [Rounds.Kept]. decide tells
// whether there is anything to decide now: beyond its capacity, a process has many items that only wait for
// their turn.
func (r *Rounds) Tick(v room.View, t fires.Tick, kept bool) (decide bool) {
	if !v.Usable || v.Out || !r.attended(v) {
		r.missed.Missing()
		return true
	}
	if !v.Rules.Schedule.Next(t.Fire.Add(-1)).Equal(t.Fire) {
		return true // ticked by a cron that was changed while the tick waited for its turn
	}
	decide = r.stale
	r.refreshOwned(v)
	left := v.LeftBefore(t.Fire)
	if left || !r.dozing.follows(t.First) {
		r.rouseAll()
	}
	if left { // what still runs here goes on
		r.missed.Missing()
	} else {
		r.ports.Peers().Ticked(v)
		r.missed.Ticked(t, r.isSettled(v))
	}
	m := v.Rules
	var passed []time.Time
	if m.All && t.First.Before(t.Fire) {
		passed = v.Rules.Fires(t.First.Add(-1), t.Fire.Add(-1))
	}
	r.dozing.note(passed, t.Fire)
	if !kept {
		r.Kept()
	}
	atOnce := !left && r.ports.Admission().Full() && r.mayQueueAtOnce(v)
	wanted, dropped := 0, 0
	note := func(n int) {
		it := r.items[n]
		if it != nil && it.dozes || v.State.Disabled(n) {
			return
		}
		if it == nil {
			it = r.item(n)
		}
		wanted++
		if it.queued && !it.Due.OnTime.IsZero() {
			dropped++ // nothing but its turn kept it from beginning since the fire before
		}
		it.Tick(m.Policy, t.Fire, passed)
		if !it.queued && (!atOnce || !r.queueAtOnce(v, it)) {
			r.toConsider.Add(n)
			decide = true
		}
		if it.queued && it.running == nil && !left {
			r.doze(it, m, t.Fire)
		}
	}
	if r.dozing.items < len(r.owned) && !left {
		for _, n := range r.owned {
			note(n)
		}
	}
	if left || len(r.items) > r.dozing.items {
		for n, it := range r.items {
			if it.running != nil && (left || !v.Owns(n)) {
				note(n)
			}
		}
	}
	r.ports.Load().Want(wanted)
	r.ports.Load().Drop(dropped)
	return decide
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
	return v.ServerEnabled() || slices.ContainsFunc(v.State.Instances, func(i jobtree.Instance) bool {
		return v.State.Enabled(i.ID)
	})
}
