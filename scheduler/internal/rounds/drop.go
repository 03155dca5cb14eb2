package rounds

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/missed"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// dropSurplus drops what is due of items that the job has no more, with each step that takes some away: the next one may
// give them back, as new items, and what came before that is not theirs. Their records, which say what ran, are gone.
func (r *Rounds) dropSurplus(v room.View) {
	total := missed.Total(v, r.ports.Traits())
	if total == 0 {
		return
	}
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
		r.ahead = nil
		for _, it := range r.items {
			it.Due = it.Due.DropOtherTimes(nil)
		}
	}
}

// dropFormerLives drops what is due of items that the job did not have for a while, if one step of the view stands for
// all of that: this process was away. What has no record now has not run since it came back. Java makes the nodes of all
// items anew whenever it reshards.
func (r *Rounds) dropFormerLives(v room.View, step registry.Step) {
	if r.ports.Traits().Unsteady {
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

// dropTheirs drops what is due of items that others may have run for it while this process was away: before it is noted as
// missed, and before the item begins for it here.
func (r *Rounds) dropTheirs(v room.View, step registry.Step) {
	if !r.ports.Traits().Unrecorded {
		return
	}
	for _, c := range step.Changes {
		name, ok := jobtree.Parse(c.Path())
		if !ok || name.Job != v.Job() || name.Kind != jobtree.KindItemInstance {
			continue
		}
		if it := r.items[name.Item]; it != nil {
			r.rouse(it)
			r.leaveTheirs(it)
		}
	}
}

// leaveTheirs is dropTheirs of one item.
func (r *Rounds) leaveTheirs(it *item) {
	if !it.Due.None() && r.ports.Traits().Unrecorded {
		it.Due = it.Due.DropTheirs(func(fire time.Time) bool { return r.ports.Peers().Theirs(it.number, fire) })
	}
}
