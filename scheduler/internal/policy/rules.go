package policy

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// Rules say by what a job fires, and what it does about missed fires. The zero Rules are those of a job
// that pauses: neither is known of it.
type Rules struct {
	Schedule cronexpr.Schedule
	Delay    time.Duration // after the end of a run; 0 = the job fires by its schedule
	Policy
}

// RulesOf returns the rules of a configuration, which has this schedule.
func RulesOf(schedule cronexpr.Schedule, cfg job.Config) Rules {
	r := Rules{Schedule: schedule, Policy: policyOf(cfg)}
	r.Delay, r.Ageless = cronexpr.DelayOf(schedule)
	return r
}

// known tells whether it is known by what the job fires.
func (r Rules) known() bool { return r.Schedule != nil }

// Fires lists the job's fires after from and up to until, the newest ones if there are more than are
// kept.
func (r Rules) Fires(from, until time.Time) []time.Time {
	return newest(r.Schedule, from, until, r.Keeps())
}

// isFire tells whether the job fires at a time.
func (r Rules) isFire(at time.Time) bool {
	return !cronexpr.Last(r.Schedule, at.Add(-1), at).IsZero()
}

// newest lists the fires after from and up to until, the newest ones if there are more than are kept.
func newest(schedule cronexpr.Schedule, from, until time.Time, keep int) []time.Time {
	var fires []time.Time
	for len(fires) < keep && from.Before(until) {
		fire := cronexpr.Last(schedule, from, until)
		if fire.IsZero() {
			break
		}
		fires = append(fires, fire)
		until = fire.Add(-1)
	}
	slices.Reverse(fires)
	return fires
}

// recallTakes is in what time whoever receives an item has begun for a fire of it, as a rule.
const recallTakes = 10 * time.Second

// Recalls tells whether a fire is run later if its begin is taken back now. It may be too old for whoever receives the item.
func (r Rules) Recalls(fire, now time.Time) bool {
	return r.Delay != 0 || r.On && r.Keeps() > 0 && (r.Window == 0 || now.Sub(fire)+recallTakes < r.Window)
}

// Recall makes the fires due again that nobody runs because a begin was taken back, whoever made it: the one that it was
// for, and those that this clock ticked before it. Who received the item while that begin stood, took them all for run.
func (r Rules) Recall(d Due, w *Witness, item int, record jobtree.Record, now time.Time) Due {
	e := record.Current
	if r.Delay != 0 || e == nil || e.Outcome != jobtree.NotStarted || e.ByHand() || !r.On || !e.Fire.After(record.LastFire) {
		return d
	}
	if !r.isFire(e.Fire) { // another cron had it
		return d
	}
	if e.End.Before(r.Told(e.Fire)) && (!w.Has(e.Fire) || !e.Fire.After(w.Floor(item))) {
		return d // it was taken back before the fire came, and then nothing fired, or the item could not
	}
	again := slices.DeleteFunc(append(r.Ticked(w, item, record.LastFire, e.Fire), e.Fire), d.Holds)
	if len(again) == 0 {
		return d
	}
	return r.Expire(r.Merge(d, again...), now)
}
