package scheduler

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/misfires"
)

// tick notes a fire for every item that is mine, and for those that run here and are another's by now:
// their ends say what they missed. It tells whether there is anything to decide now: beyond its capacity,
// a process has many items that only wait for their turn.
func (r *runner) tick(t fires.Tick) (decide bool) {
	if !r.settings.OK || r.membership.Out() || !r.attended() {
		r.missed.Missing()
		return true
	}
	if !r.settings.Rules.Schedule.Next(t.Fire.Add(-1)).Equal(t.Fire) {
		return true // ticked by a cron that was changed while the tick waited for its turn
	}
	decide = r.stale
	r.refreshOwned()
	left := r.membership.LeftBefore(t.Fire)
	if left { // what still runs here goes on
		r.missed.Missing()
	} else {
		r.peers.Ticked(r.look())
		r.missed.Ticked(t, r.look().Settled())
	}
	m := r.settings.Rules
	var passed []time.Time
	if m.All && t.First.Before(t.Fire) {
		passed = r.settings.Rules.Fires(t.First.Add(-1), t.Fire.Add(-1))
	}
	wanted, dropped := 0, 0
	note := func(n int) {
		if r.state.Disabled(n) {
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
		if it.running != nil && (left || !r.owns(n)) {
			note(n)
		}
	}
	r.s.load.want(wanted)
	r.s.load.drop(dropped)
	return decide
}

// attended tells whether a fire that comes now has to be run, because somebody may run items. One that
// comes while all servers are disabled has not happened, now or later.
func (r *runner) attended() bool {
	return r.serverEnabled() || slices.ContainsFunc(r.state.Instances, func(i jobtree.Instance) bool {
		return r.state.Enabled(i.ID)
	})
}

// item returns what is known of an item, from now on if nothing was.
func (r *runner) item(n int) *item {
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
func (r *runner) refreshOwned() {
	if !r.stale {
		return
	}
	r.stale = false
	before := r.owned
	r.owned = nil
	for n := range r.state.Total() {
		if !r.owns(n) {
			continue
		}
		// What an item missed is not to be told without settings, so it is greeted when the job goes on.
		if _, had := slices.BinarySearch(before, n); had || r.settings.OK {
			r.owned = append(r.owned, n)
		} else {
			r.stale = true
		}
	}
	// One text for all items: of ten thousand, each names them all.
	r.task = job.TaskID{Job: r.name, Items: r.owned, Instance: r.s.instance}.String()
	for _, n := range r.owned {
		if _, had := slices.BinarySearch(before, n); !had {
			r.toConsider.Note([]int{n}, false)
			r.missed.Receive(r.look(), r.peers, &r.item(n).Item, r.state.Item(n))
		}
	}
	r.missed.Received()
	for _, n := range before {
		if _, has := slices.BinarySearch(r.owned, n); !has {
			r.release(n)
		}
	}
}

// release has it noted what is due of an item that now belongs to another instance. What still runs here
// goes on, and its end notes it.
func (r *runner) release(n int) {
	it := r.items[n]
	if it == nil {
		return
	}
	r.missed.Release(r.look(), n, &it.Item)
	if it.running == nil {
		r.part(it)
	}
}

// part has an item forgotten that does not run here and is not to run here, once it is noted what is due
// of it.
func (r *runner) part(it *item) {
	if it.Due.None() {
		if !r.owns(it.number) {
			delete(r.items, it.number)
		}
		return
	}
	r.missed.Part(it.number)
}

// noteMissed notes what is due of items that are not to run here: they moved, this instance leaves, or
// nothing may begin here. It tells whether nothing is left to be noted.
func (r *runner) noteMissed() bool {
	if r.missed.Exhausted() {
		return true
	}
	r.refreshOwned()
	if r.leaving || !r.mayBegin() {
		for _, n := range r.owned {
			if it := r.items[n]; it != nil && it.running == nil {
				r.part(it)
			}
		}
	}
	r.commitAll(r.missed.Decide(r.look(), r.s.traits, leftovers{r.items, r.idleAway, r.owns}, r.left))
	return !r.missed.HasToNote()
}

// idleAway tells whether an item is known that does not run here and is not to run here.
func (r *runner) idleAway(n int) bool {
	it := r.items[n]
	return it != nil && it.running == nil && (!r.owns(n) || r.leaving || !r.mayBegin())
}

// leftovers are the items of which something may have to be noted.
type leftovers struct {
	items map[int]*item
	away  func(item int) bool
	owned func(item int) bool
}

// Leftover implements [missed.Leftover].
func (l leftovers) Leftover(n int) (misfires.Due, bool) {
	if !l.away(n) {
		return misfires.Due{}, false
	}
	return l.items[n].Due, true
}

// Noted implements [missed.Leftover].
func (l leftovers) Noted(n int) {
	if it := l.items[n]; it != nil && !l.owned(n) && it.running == nil {
		delete(l.items, n)
	}
}
