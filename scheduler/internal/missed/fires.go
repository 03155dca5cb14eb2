// Package missed is the room of fires that items miss: what this process's clock ticked of them, what others have to be told
// of that, and what others have noted. Which fires count as missed, and which of those are made up, package policy says.
//
// Missed fires belong to their item, not to who missed them. Whoever has to leave some of an item to
// others notes them in the item's misfire node: with the end of an execution, whoever owns the item by
// then; when an item that does not run moves; when this instance leaves; and while it must not begin
// anything. A new owner runs what is noted and what its own clock ticked too, each fire once. So one
// live process that ticked a fire is enough to have it made up; see [vouching] for those who are not the item's owner.
package missed

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Rounds are what the room is a part of.
type Rounds interface {
	LookAgain(items ...int) // marks items to be looked at once more: something of them may begin
}

// Fires are what an instance knows of the fires of a job.
type Fires struct {
	ports    room.Ports
	rounds   Rounds
	times    string            // the name of those by which what is due has come; empty = of none yet
	disabled time.Time         // since when the job is seen to be, as far as its settings could be read; zero = it is not
	records  bool              // the job keeps records of what ran for which fire; as it was before a pause
	makesUp  bool              // it makes missed fires up; likewise
	last     lastTick          // the newest fire that this process's clock ticked
	witness  policy.Witness    // all that it ticked
	vouching vouching          // what of it others need to know
	member   registry.Revision // creation of this instance as it was seen last
	hears    time.Time         // since when others may tell it anything: it is there, and the job goes on; by the monotonic clock
	formers  map[int]string    // who owned items that are given to this instance, until they are received
	letGo    map[int]struct{}  // items that are not to run here, and whose due fires must be noted
	tries    int               // how often a leaving instance could not note all that was missed
}

// lastTick is the newest fire that this process's clock ticked, and what was true then. An item that
// comes to this instance later may have missed it.
type lastTick struct {
	fire    time.Time
	settled bool // every item had its owner
}

// New makes the room of a job.
func New(ports room.Ports, rounds Rounds) *Fires { return &Fires{ports: ports, rounds: rounds} }

// Before takes in a step of the view that the state does not show yet: which items it gives to this instance
// that another one owned. Where an assignment is written in parts, they come with a later step, which names none of them.
func (f *Fires) Before(v room.View, step registry.Step) {
	if !v.Rules.All {
		return // a later run stands for what comes to be known late
	}
	for _, change := range step.Changes {
		if !change.New.Exists() {
			continue
		}
		name, ok := jobtree.Parse(change.Path())
		if !ok || name.Job != v.Job() {
			continue
		}
		owner := change.New.Value
		if name.Kind == jobtree.KindItemNext {
			next, _ := jobtree.DecodeNext(change.New) // of what cannot be read, nobody is the owner
			owner = next.Owner
		} else if name.Kind != jobtree.KindItemInstance {
			continue
		}
		if former := v.State.Owner(name.Item); owner == v.Instance && former != "" && former != owner {
			if f.formers == nil {
				f.formers = make(map[int]string)
			}
			f.formers[name.Item] = former
		}
	}
}

// Observe takes in which items the job has, and which are disabled.
func (f *Fires) Observe(v room.View, traits peers.Traits, t jobtree.Touched) {
	for _, n := range t.Items {
		f.witness.Bar(n, v.State.Disabled(n))
	}
	if total := Total(v, traits); total > 0 {
		f.witness.Follow(total, v.Clock.Now().Add(-v.Rules.Jitter.Most))
	}
	if stored := v.State.Config; stored.Exists() && stored.Err == nil {
		f.heedDisabled(v)
	}
}

// heedDisabled takes in whether the job is disabled. The fires of that time are none, also for a window that reaches back to
// it; of what was before this process followed the job, it knows nothing.
func (f *Fires) heedDisabled(v room.View) {
	disabled := v.State.JobDisabled()
	switch {
	case disabled && f.disabled.IsZero():
		f.disabled = v.Clock.Now()
	case !disabled && !f.disabled.IsZero():
		f.witness.Void(f.disabled, v.Clock.Now())
		f.disabled = time.Time{}
	}
}

// Total returns how many items the job has, by its settings and by its assignment, if that does not come in pieces; 0 if
// that is not known. Others may go on by settings that this process refuses.
func Total(v room.View, traits peers.Traits) int {
	total := v.Config.ShardingTotalCount
	switch {
	case v.Refused:
		total = max(0, v.State.Config.Value.ShardingTotalCount)
	case !v.Usable:
		return 0
	}
	if traits.Unsteady {
		return total
	}
	return min(total, v.State.Total())
}

// Renew takes in that the job had no such item for a while: what was ticked before is not the item's.
func (f *Fires) Renew(item int) { f.witness.Renew(item) }

// Ticked takes in that this clock ticked a fire, while the assignment was settled or not.
func (f *Fires) Ticked(t fires.Tick, settled bool) {
	f.last = lastTick{fire: t.Fire, settled: settled}
	f.witness.Saw(t.First, t.Fire)
}

// NewestTick returns the newest fire that this clock ticked, by whatever times; zero = none.
func (f *Fires) NewestTick() time.Time { return f.last.fire }

// Unticked notes that fires may come that are not ticked.
func (f *Fires) Unticked() { f.witness.Missing() }

// ForgetTicks forgets all ticks: what this clock ticked says nothing.
func (f *Fires) ForgetTicks() { f.witness.Forget() }

// Adopt takes in the configuration by which the job goes on, after a pause or by other settings than before.
func (f *Fires) Adopt(v room.View, paused bool) {
	if paused {
		f.hears = time.Now() // nobody notes anything while the job pauses
	}
	f.Heed(*v.Config, v.Rules.Delay, v.Clock.Now())
}

// Heed takes in whether records say from now on for which fires items run, and whether missed ones are made up. A fixed delay
// has no fires but what records say.
func (f *Fires) Heed(cfg job.Config, delay time.Duration, now time.Time) {
	records, makesUp := cfg.Monitored() && delay == 0, cfg.Misfire != job.MisfireSkip
	switch {
	case !f.Timed():
	case records && !f.records: // what was run for is in no record
		f.forgetUntil(now)
	case makesUp && !f.makesUp: // what was missed was dropped
		last := f.last.fire
		recent := f.witness.Has(last) && now.Sub(last).Abs() <= policy.LateAfter+cfg.Jitter
		f.forgetUntil(now)
		if recent { // it may have come when this was in force already
			f.witness.Saw(last, last)
		}
	}
	f.records, f.makesUp = records, makesUp
}

// forgetUntil forgets what came until now.
func (f *Fires) forgetUntil(now time.Time) {
	f.witness.Forget()
	f.witness.Void(time.Time{}, now)
}

// FiresBy tells whether the job has fired by these times up to now.
func (f *Fires) FiresBy(times fires.Times) bool { return f.times == times.Name() }

// Timed tells whether the job has fired by any times here.
func (f *Fires) Timed() bool { return f.times != "" }

// FireBy takes in by what the job fires from now on, and forgets what came before: it came under other times.
func (f *Fires) FireBy(next fires.Times, now time.Time) {
	if f.Timed() {
		f.forgetUntil(now)
	}
	f.times = next.Name()
}

// BeginLife forgets all that is known: the job was removed, and another one is there by its name.
func (f *Fires) BeginLife() {
	f.witness.Forget()
	f.StopNoting()
	f.formers = nil
}
