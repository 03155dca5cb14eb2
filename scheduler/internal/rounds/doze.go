package rounds

import (
	"time"

	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// dozing is what came of the items that doze: items that wait for their turn, and of which nothing else can begin
// before that. Beyond its capacity a process has hardly any others, and most of their fires will never run. So
// a fire is noted once for all of them, and each makes up what it missed of that when something else happens to
// it: its turn comes, its nodes change, or it goes to another instance.
//
// An item begins to doze with a fire that was noted in it, so it always has one that is on time, or was.
type dozing struct {
	items   int // how many doze
	*dozers     // nil in a job of which no item has ever dozed: there may be thousands
}

// dozers are by what and since when items doze.
type dozers struct {
	rules  *policy.Rules // by which the fires came
	newest time.Time     // fire
	fires  []time.Time   // ascending, that came since they doze: the newest that the policy can still need
}

// doze has an item doze in which a fire was just noted, by these rules.
func (r *Rounds) doze(it *item, rules *policy.Rules, fire time.Time) {
	it.dozes = true
	if r.dozing.dozers == nil {
		r.dozing.dozers = new(dozers)
	}
	r.dozing.items++
	r.dozing.rules, r.dozing.newest = rules, fire
}

// rouse brings what is due of an item up to the newest fire. It stands before everything that reads that.
func (r *Rounds) rouse(it *item) {
	if !it.dozes {
		return
	}
	d := &r.dozing
	it.dozes = false
	it.CatchUp(d.rules.Policy, d.fires)
	if d.items--; d.items == 0 {
		d.fires = d.fires[:0]
	}
}

// rouseAll rouses every item, before the job's rules change or a fire comes that does not follow the others.
func (r *Rounds) rouseAll() {
	if r.dozing.items == 0 {
		return
	}
	for _, it := range r.items {
		r.rouse(it)
	}
}

// rouseTouched rouses those of some items that doze: something of them has changed.
func (r *Rounds) rouseTouched(items []int) {
	if r.dozing.items == 0 {
		return
	}
	for _, n := range items {
		if it := r.items[n]; it != nil {
			r.rouse(it)
		}
	}
}

// follows tells whether a fire is later than those that were noted. It is not if the clock was set back.
func (d *dozing) follows(fire time.Time) bool {
	return d.items == 0 || fire.After(d.newest)
}

// note notes a fire, and those that passed unseen before it, for all that doze.
func (d *dozing) note(passed []time.Time, fire time.Time) {
	if d.items == 0 {
		return
	}
	d.newest = fire
	if !d.rules.All { // the newest stands for all
		d.fires = append(d.fires[:0], fire)
		return
	}
	d.fires = append(append(d.fires, passed...), fire)
	if most := d.rules.Keeps() + 1; len(d.fires) > most {
		d.fires = d.fires[len(d.fires)-most:]
	}
}

// Dozes tells whether all items of this instance doze, so that nothing can come of a fire but that they miss one more.
func (r *Rounds) Dozes(v room.View) bool {
	return r.dozing.items > 0 && r.dozing.items == len(r.owned) && len(r.items) == len(r.owned) && !r.stale &&
		v.Usable && !v.Out && v.LeftAt.IsZero() && r.attended(v)
}

// Kept counts a fire of a job that dozes. It may be called while nothing happens to the job; [Rounds.Tick] of what
// was kept follows before anything does.
func (r *Rounds) Kept() {
	r.ports.Load().Want(r.dozing.items)
	r.ports.Load().Drop(r.dozing.items)
}

// Fold makes one tick of two that follow each other; ok is false if they do not.
func Fold(first, next fires.Tick) (both fires.Tick, ok bool) {
	return fires.Tick{First: first.First, Fire: next.Fire}, next.First.After(first.Fire)
}
