package policy

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// Delayed returns the fire of an item of a job with a fixed delay: so long after its last execution was over,
// whoever ran it and why. The record says when that was, so every instance comes to the same fire, and the
// begin that the record guards happens once. An item that never ran is due at once, or when the job starts.
// horizon is the latest fire that a clock in order can have ticked; zero if that is not known. The fire is
// zero if there is none any more.
func (r Rules) Delayed(cfg *job.Config, record jobtree.Record, now, horizon time.Time) time.Time {
	fire := cfg.StartTime
	switch last := lastCounted(record); {
	case last != nil && last.Outcome == jobtree.NotStarted && !last.ByHand():
		fire = last.Fire
	case last != nil && !horizon.IsZero() && last.End.After(horizon):
		fire = now.Truncate(time.Millisecond) // a broken clock wrote the end
	case last != nil:
		fire = last.End.Add(r.Delay)
	case fire.IsZero():
		fire = now.Truncate(time.Millisecond)
	}
	if !record.FireAhead(horizon) && !fire.After(record.LastFire) {
		fire = record.LastFire.Add(time.Millisecond) // the end was recorded by a clock that is behind
	}
	if fire.Before(cfg.StartTime) {
		fire = cfg.StartTime
	}
	if end := cfg.EndTime; !end.IsZero() && fire.After(end) {
		return time.Time{}
	}
	return fire
}

// lastCounted returns the execution from which the delay counts, or that is to be repeated; nil if there is
// none. A run by hand that was taken back before it started was none.
func lastCounted(record jobtree.Record) *jobtree.Execution {
	last := record.Current
	if last == nil || last.Outcome != jobtree.NotStarted || !last.ByHand() {
		return last
	}
	if previous, ok := record.Previous(); ok {
		return &previous
	}
	return nil
}
