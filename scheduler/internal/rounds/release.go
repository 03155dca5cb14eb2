package rounds

import (
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
		r.letGo(v, it)
	}
}

// letGo forgets an item that does not run here and is not to run here, once what is due of it has been
// noted.
func (r *Rounds) letGo(v room.View, it *item) {
	r.rouse(it)
	if it.Due.None() {
		if !v.Owns(it.number) {
			delete(r.items, it.number)
		}
		return
	}
	r.missed.LetGo(it.number)
}

// Note proposes to note what is due of items that are not to run here: they moved, this instance leaves, or
// nothing may begin here, for longer than the job's code takes to take new settings up. over tells that an instance
// that leaves has tried often enough. left tells that this one has left, tells that it has time yet to speak of others' items.
// Nothing is left to be noted if [missed.Fires.ToNote] is zero then.
func (r *Rounds) Note(v room.View, left, tells bool) (batch room.Batch, over bool) {
	if r.missed.Exhausted() {
		return nil, true
	}
	r.refreshOwned(v)
	if r.ports.Traits().Unrecorded {
		r.ports.Peers().StillDue(v, r.anyDue)
	}
	if v.Leaving || !r.mayBeginSoon(v) {
		for _, n := range r.owned {
			if it := r.items[n]; it != nil && it.running == nil {
				r.letGo(v, it)
			}
		}
	}
	return r.missed.Decide(v, r.ports.Peers(), r.ports.Traits(), leftovers{r, v}, left, tells), false
}

// anyDue tells whether a fire of an item has come that has not begun here.
func (r *Rounds) anyDue() bool {
	for _, it := range r.items {
		if it.dozes || !it.Due.None() {
			return true
		}
	}
	return false
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
