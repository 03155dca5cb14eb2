package rounds

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// wakeDelayed notes the items of a job with a fixed delay whose time has come, and keeps the alarm set
// for the others.
func (r *Rounds) wakeDelayed(v room.View, now time.Time) {
	if v.Rules.Delay == 0 {
		return
	}
	for _, n := range r.owned {
		it := r.items[n]
		switch {
		case it == nil || it.wake.IsZero():
		case it.wake.After(now):
			r.sleepTo(it.wake, now)
		default:
			r.toConsider.Add(n)
		}
	}
}

// sleepTo makes the runner look again at a time, or before. The alarm goes by the monotonic clock, which
// does not know if the wall clock is set.
func (r *Rounds) sleepTo(at, now time.Time) { r.ports.Wake(min(at.Sub(now), fires.WallCheck)) }

// considerDelay finds out whether an item of a job with a fixed delay is due, see [policy.Rules.Delayed].
func (r *Rounds) considerDelay(v room.View, it *item, record jobtree.Record, round *Round) {
	if v.Rules.Delay == 0 {
		return
	}
	it.Due, it.wake = policy.Due{}, time.Time{}
	fire := v.Rules.Delayed(v.Config, record, round.now, v.Clock.Horizon())
	switch {
	case fire.IsZero():
	case fire.After(round.now):
		it.wake = fire
		if v.Clock.Horizon().IsZero() { // an end far ahead may be the word of a broken clock, and nothing tells when that is known
			it.wake = round.now.Add(min(fire.Sub(round.now), fires.WallCheck))
		}
		r.sleepTo(fire, round.now)
	default:
		it.Due.OnTime = fire
		if round.refuse {
			r.retryLater(v, it)
		}
	}
}

// retryLater arranges another look at an item that may not begin by this clock as it is now: if the clock is set, no tick comes
// again for what is due, and of a fixed delay none comes ever.
func (r *Rounds) retryLater(v room.View, it *item) {
	if v.Rules.Delay != 0 {
		it.wake = time.Unix(0, 0) // whatever the clock is set to
	} else {
		r.toConsider.Add(it.number)
	}
	r.ports.Wake(fires.WallCheck)
}
