package rounds

import (
	"slices"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

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
	if slices.Equal(r.owned, before) { // as a rule: what touches an item seldom moves it
		return
	}
	r.task = ""
	for _, n := range r.owned {
		if !had(n) {
			r.toConsider.Add(n)
			r.missed.Receive(v, r.ports.Peers(), &r.item(n).Item, v.State.Item(n))
		}
	}
	for _, n := range before {
		if _, has := slices.BinarySearch(r.owned, n); !has {
			r.release(v, n)
		}
	}
}

// taskID returns what names my items. It is one text for all of them: of ten thousand, each names them all.
func (r *Rounds) taskID(v room.View) string {
	if r.task == "" {
		r.task = job.TaskID{Job: r.ports.Job(), Items: r.owned, Instance: v.Instance}.String()
	}
	return r.task
}
