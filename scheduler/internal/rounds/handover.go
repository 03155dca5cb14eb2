package rounds

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/missed"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// release arranges to note what is due of an item that now belongs to another instance. What still runs here
// goes on, and its end notes it.
func (r *Rounds) release(v room.View, n int) {
	it := r.items[n]
	if it == nil {
		return
	}
	r.rouse(it)
	r.missed.Release(v, n, &it.Item)
	if it.running == nil {
		r.part(v, it)
	}
}

// dropSurplus drops what is due of items that the job has no more, with each step that takes some away: the next one may
// give them back, as new items, and what came before that is not theirs. Their records, which say what ran, are gone.
func (r *Rounds) dropSurplus(v room.View) {
	if !v.Usable {
		return
	}
	total := missed.Total(v, r.ports.Others())
	for n, it := range r.items {
		if n >= total {
			r.rouse(it)
			it.Due = it.Due.DropSurplus()
		}
	}
}

// dropFormerLife drops all that is due, and what was ticked, if one step of the view stands for the removal of the job and
// for another one that took its name: this process was away.
func (r *Rounds) dropFormerLife(v room.View, step registry.Step) {
	path := v.Tree.Config()
	for _, c := range step.Changes {
		if c.Path() != path || !c.Old.Exists() || !c.New.Exists() || c.Old.Created == c.New.Created {
			continue
		}
		r.rouseAll()
		r.missed.BeginLife()
		for _, it := range r.items {
			it.Due = it.Due.DropOtherTimes()
		}
	}
}

// dropFormerLives drops what is due of items that the job did not have for a while, if one step of the view stands for
// all of that: this process was away. What has no record now has not run since it came back. Java makes the nodes of all
// items anew whenever it reshards.
func (r *Rounds) dropFormerLives(v room.View, step registry.Step) {
	if r.ports.Others().Unsteady {
		return
	}
	for _, c := range step.Changes {
		if !c.Old.Exists() || !c.New.Exists() || c.Old.Created == c.New.Created {
			continue
		}
		name, ok := jobtree.Parse(c.Path())
		if !ok || name.Job != v.Job() || name.Kind != jobtree.KindItemInstance || step.Snapshot.Get(v.Tree.ItemRecord(name.Item)).Exists() {
			continue
		}
		r.missed.Renew(name.Item)
		if it := r.items[name.Item]; it != nil {
			r.rouse(it)
			it.Due = it.Due.DropSurplus()
		}
	}
}

// part forgets an item that does not run here and is not to run here, once what is due of it has been
// noted.
func (r *Rounds) part(v room.View, it *item) {
	r.rouse(it)
	if it.Due.None() {
		if !v.Owns(it.number) {
			delete(r.items, it.number)
		}
		return
	}
	r.missed.Part(it.number)
}

// Note proposes to note what is due of items that are not to run here: they moved, this instance leaves, or
// nothing may begin here, for longer than the job's code takes to take new settings up. over tells that an instance
// that leaves has tried often enough. left tells that this one has left. Nothing is left to be noted if
// [Rounds.ToNote] is zero then.
func (r *Rounds) Note(v room.View, left bool) (batch room.Batch, over bool) {
	if r.missed.Exhausted() {
		return nil, true
	}
	r.refreshOwned(v)
	if v.Leaving || !r.mayBeginSoon(v) {
		for _, n := range r.owned {
			if it := r.items[n]; it != nil && it.running == nil {
				r.part(v, it)
			}
		}
	}
	return r.missed.Decide(v, r.ports.Peers(), r.ports.Others(), leftovers{r, v}, left), false
}

// idleAway tells whether an item is known that does not run here and is not to run here.
func (r *Rounds) idleAway(v room.View, n int) bool {
	it := r.items[n]
	return it != nil && it.running == nil && (!v.Owns(n) || v.Leaving || !r.mayBeginSoon(v))
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
	l.r.rouse(l.r.items[n])
	return l.r.items[n].Due, true
}

// Noted implements [missed.Leftover].
func (l leftovers) Noted(n int) {
	if it := l.r.items[n]; it != nil && !l.v.Owns(n) && it.running == nil {
		delete(l.r.items, n)
	}
}
