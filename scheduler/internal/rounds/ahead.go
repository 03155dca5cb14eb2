package rounds

import (
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// inTime returns what of a tick, and of those before it, is not ahead of time, see [policy.Ahead]; ok is false if that is
// nothing. As a rule it is the tick. A job that leaves no marks goes by this process's clock alone.
func (r *Rounds) inTime(v room.View, t fires.Tick) (come fires.Tick, ok bool) {
	off, _ := v.Clock.Off()
	if r.ahead == nil && (off <= fires.ClockTolerance || v.Config.Unmonitored) {
		return t, true
	}
	if r.ahead == nil {
		r.ahead = new(policy.Ahead)
	}
	r.ahead.Add(t.First, t.Fire)
	return r.takeCome(v)
}

// takeCome takes out those of the fires ahead of time that have come, and sees to it that the next one is not forgotten. To run
// them before, as far as clocks may differ, would bury those that come meanwhile, and that others may be about to run.
func (r *Rounds) takeCome(v room.View) (come fires.Tick, ok bool) {
	now := v.Clock.Now()
	if off, _ := v.Clock.Off(); off > fires.ClockTolerance {
		now = now.Add(-off)
	}
	come.First, come.Fire, ok = r.ahead.Come(v.Rules.Schedule, now, v.Clock.Passed())
	if r.ahead.None() {
		r.ahead = nil
	} else {
		r.ports.AskClock(fires.ClockEvery, nil) // that one may have drifted since it was read
		r.ports.Wake(min(r.ahead.Next().Sub(now), fires.WallCheck))
		r.ports.FireAhead(r.ahead.Next())
	}
	return come, ok
}

// noteCome notes the fires that were ahead of time and have come.
func (r *Rounds) noteCome(v room.View) {
	if r.ahead == nil || !v.Usable {
		return
	}
	if t, ok := r.takeCome(v); ok {
		r.note(v, t, false)
	}
}
