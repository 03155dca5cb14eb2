package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/misfires"
)

// wakeDelayed notes the items of a job with a fixed delay whose time has come, and keeps the alarm set
// for the others.
func (r *runner) wakeDelayed(now time.Time) {
	if r.settings.Rules.Delay == 0 {
		return
	}
	for _, n := range r.owned {
		it := r.items[n]
		switch {
		case it == nil || it.wake.IsZero():
		case it.wake.After(now):
			r.sleepTo(it.wake, now)
		default:
			r.toConsider.Note([]int{n}, false)
		}
	}
}

// sleepTo has the runner look again at a time, or before. The alarm goes by the monotonic clock, which
// does not know if the wall clock is set.
func (r *runner) sleepTo(at, now time.Time) { r.alarm.Set(min(at.Sub(now), fires.WallCheck)) }

// considerDelay finds out whether an item of a job with a fixed delay is due, see [misfires.Rules.Delayed].
func (r *runner) considerDelay(it *item, record jobtree.Record, round *round) {
	if r.settings.Rules.Delay == 0 {
		return
	}
	it.Due, it.wake = misfires.Due{}, time.Time{}
	fire := r.settings.Rules.Delayed(r.settings.Config, record, round.now, r.s.clock.Horizon())
	switch {
	case fire.IsZero():
	case fire.After(round.now):
		it.wake = fire
		r.sleepTo(fire, round.now)
	default:
		it.Due.OnTime = fire
		if round.refuse {
			r.retryDelayed(it)
		}
	}
}

// retryDelayed has an item of a job with a fixed delay looked at again that may not begin by this clock as
// it is now: no tick comes that would.
func (r *runner) retryDelayed(it *item) {
	if r.settings.Rules.Delay != 0 {
		it.wake = time.Unix(0, 0) // whatever the clock is set to
		r.alarm.Set(fires.WallCheck)
	}
}
