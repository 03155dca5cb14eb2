package rounds

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Fired posts a fire that this process's clock ticked. It never blocks.
func (r *Rounds) Fired(t fires.Tick) {
	r.ports.PostNote(func() (decide bool) { return r.Tick(r.ports.Look(), t, r.ports.LeftBefore(t.Fire)) })
}

// Tick notes a fire for every item that is mine, and for those that run here and are another's by now:
// their ends say what they missed. left tells that this instance had left by then. decide tells whether there
// is anything to decide now: beyond its capacity, a process has many items that only wait for their turn.
func (r *Rounds) Tick(v room.View, t fires.Tick, left bool) (decide bool) {
	if !v.Usable || v.Out || !r.attended(v) {
		r.missed.Missing()
		return true
	}
	if !v.Rules.Schedule.Next(t.Fire.Add(-1)).Equal(t.Fire) {
		return true // ticked by a cron that was changed while the tick waited for its turn
	}
	decide = r.stale
	r.refreshOwned(v)
	if left { // what still runs here goes on
		r.missed.Missing()
	} else {
		r.ports.Peers.Ticked(v)
		r.missed.Ticked(t, v.Settled())
	}
	m := v.Rules
	var passed []time.Time
	if m.All && t.First.Before(t.Fire) {
		passed = v.Rules.Fires(t.First.Add(-1), t.Fire.Add(-1))
	}
	wanted, dropped := 0, 0
	note := func(n int) {
		if v.State.Disabled(n) {
			return
		}
		it := r.item(n)
		wanted++
		if !it.queued {
			r.toConsider.Note([]int{n}, false)
			decide = true
		} else if !it.Due.OnTime.IsZero() {
			dropped++ // nothing but its turn kept it from beginning since the fire before
		}
		it.Tick(m.Policy, t.Fire, passed)
	}
	for _, n := range r.owned {
		if !left {
			note(n)
		}
	}
	for n, it := range r.items {
		if it.running != nil && (left || !v.Owns(n)) {
			note(n)
		}
	}
	r.ports.Load.Want(wanted)
	r.ports.Load.Drop(dropped)
	return decide
}

// attended tells whether a fire that comes now has to be run, because somebody may run items. One that
// comes while all servers are disabled has not happened, now or later.
func (r *Rounds) attended(v room.View) bool {
	return v.ServerEnabled() || slices.ContainsFunc(v.State.Instances, func(i jobtree.Instance) bool {
		return v.State.Enabled(i.ID)
	})
}

// item returns what is known of an item, from now on if nothing was.
func (r *Rounds) item(n int) *item {
	it := r.items[n]
	if it == nil {
		it = &item{number: n}
		if r.items == nil {
			r.items = make(map[int]*item)
		}
		r.items[n] = it
	}
	return it
}

// refreshOwned brings the list of my items up to the state, greets those that are new and hands over
// those that are gone. A former owner starts no catch-up of what it no longer owns.
func (r *Rounds) refreshOwned(v room.View) {
	if !r.stale {
		return
	}
	r.stale = false
	before := r.owned
	had := func(n int) bool { _, found := slices.BinarySearch(before, n); return found }
	r.owned = make([]int, 0, len(before))
	for n := range v.State.Total() {
		if !v.Owns(n) {
			continue
		}
		// Without settings nobody can tell what an item missed, so it is greeted when the job goes on.
		if v.Usable || had(n) {
			r.owned = append(r.owned, n)
		} else {
			r.stale = true
		}
	}
	if r.task != "" && slices.Equal(r.owned, before) { // as a rule: what touches an item seldom moves it
		r.missed.Received()
		return
	}
	// One text for all items: of ten thousand, each names them all.
	r.task = job.TaskID{Job: r.ports.Job, Items: r.owned, Instance: v.Instance}.String()
	for _, n := range r.owned {
		if !had(n) {
			r.toConsider.Note([]int{n}, false)
			r.missed.Receive(v, r.ports.Peers, &r.item(n).Item, v.State.Item(n))
		}
	}
	r.missed.Received()
	for _, n := range before {
		if _, has := slices.BinarySearch(r.owned, n); !has {
			r.release(v, n)
		}
	}
}

// release arranges to note what is due of an item that now belongs to another instance. What still runs here
// goes on, and its end notes it.
func (r *Rounds) release(v room.View, n int) {
	it := r.items[n]
	if it == nil {
		return
	}
	r.missed.Release(v, n, &it.Item)
	if it.running == nil {
		r.part(v, it)
	}
}

// part forgets an item that does not run here and is not to run here, once what is due of it has been
// noted.
func (r *Rounds) part(v room.View, it *item) {
	if it.Due.None() {
		if !v.Owns(it.number) {
			delete(r.items, it.number)
		}
		return
	}
	r.missed.Part(it.number)
}

// Note proposes to note what is due of items that are not to run here: they moved, this instance leaves, or
// nothing may begin here. over tells that an instance that leaves has tried often enough. left tells that this one has
// left. Nothing is left to be noted if [Rounds.HasToNote] is false then.
func (r *Rounds) Note(v room.View, left bool) (batch room.Batch, over bool) {
	if r.missed.Exhausted() {
		return nil, true
	}
	r.refreshOwned(v)
	if v.Leaving || !r.MayBegin(v) {
		for _, n := range r.owned {
			if it := r.items[n]; it != nil && it.running == nil {
				r.part(v, it)
			}
		}
	}
	return r.missed.Decide(v, r.ports.Others, leftovers{r, v}, left), false
}

// idleAway tells whether an item is known that does not run here and is not to run here.
func (r *Rounds) idleAway(v room.View, n int) bool {
	it := r.items[n]
	return it != nil && it.running == nil && (!v.Owns(n) || v.Leaving || !r.MayBegin(v))
}

// leftovers are the items with fires that may have to be noted.
type leftovers struct {
	r *Rounds
	v room.View
}

// Leftover implements [missed.Leftover].
func (l leftovers) Leftover(n int) (policy.Due, bool) {
	if !l.r.idleAway(l.v, n) {
		return policy.Due{}, false
	}
	return l.r.items[n].Due, true
}

// Noted implements [missed.Leftover].
func (l leftovers) Noted(n int) {
	if it := l.r.items[n]; it != nil && !l.v.Owns(n) && it.running == nil {
		delete(l.r.items, n)
	}
}
