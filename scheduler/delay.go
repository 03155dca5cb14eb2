package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
)

// wakeDelayed notes the items of a job with a fixed delay whose time has come, and keeps the alarm set
// for the others.
func (r *runner) wakeDelayed(now time.Time) {
	if r.settings.delay == 0 {
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

// considerDelay finds out whether an item of a job with a fixed delay is due: so long after its last
// execution was over, whoever ran it and why. The record says when that was, so every instance comes
// to the same fire, and the begin that the record guards happens once. An item that never ran is due
// at once, or when the job starts.
func (r *runner) considerDelay(it *item, record jobtree.Record, round *round) {
	if r.settings.delay == 0 {
		return
	}
	it.due, it.wake = due{}, time.Time{}
	fire, now, horizon := r.settings.config.StartTime, round.now, r.s.horizon()
	switch last := lastCounted(record); {
	case last != nil && last.Outcome == jobtree.NotStarted && !last.Fire.IsZero():
		fire = last.Fire
	case last != nil && !horizon.IsZero() && last.End.After(horizon):
		fire = now.Truncate(time.Millisecond) // a broken clock wrote the end
	case last != nil:
		fire = last.End.Add(r.settings.delay)
	case fire.IsZero():
		fire = now.Truncate(time.Millisecond)
	}
	if !record.FireAhead(horizon) && !fire.After(record.LastFire) {
		fire = record.LastFire.Add(time.Millisecond) // the end was recorded by a clock that is behind
	}
	if start := r.settings.config.StartTime; fire.Before(start) {
		fire = start
	}
	if end := r.settings.config.EndTime; !end.IsZero() && fire.After(end) {
		return
	}
	if fire.After(now) {
		it.wake = fire
		r.sleepTo(fire, now)
		return
	}
	it.due.onTime = fire
	if round.refuse {
		r.retryDelayed(it)
	}
}

// lastCounted returns the execution from which the delay counts, or that is to be repeated; nil if there is
// none. A run by hand that was taken back before it started was none.
func lastCounted(record jobtree.Record) *jobtree.Execution {
	last := record.Current
	if last == nil || last.Outcome != jobtree.NotStarted || !last.Fire.IsZero() {
		return last
	}
	if previous, ok := record.Previous(); ok {
		return &previous
	}
	return nil
}

// retryDelayed has an item of a job with a fixed delay looked at again that may not begin by this clock as
// it is now: no tick comes that would.
func (r *runner) retryDelayed(it *item) {
	if r.settings.delay != 0 {
		it.wake = time.Unix(0, 0) // whatever the clock is set to
		r.alarm.Set(fires.WallCheck)
	}
}
