package policy

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jitter"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// LateAfter is how late a scheduled fire may begin and still count as on time. Beyond, it is a
// missed fire and follows the misfire policy.
const LateAfter = 5 * time.Second

// Policy is what a job does about missed fires.
type Policy struct {
	On     bool
	All    bool          // run each, instead of one run for all
	Most   int           // of them to keep, if All
	Window time.Duration // how old they may be; 0 = any age

	Jitter  jitter.Jitter // by how much each fire is told late
	Ageless bool          // a fire is never too late to be on time
}

// policyOf returns the policy of a configuration. Whether a fire is never too late, the schedule tells.
func policyOf(cfg job.Config) Policy {
	return Policy{
		On:     cfg.Misfire != job.MisfireSkip,
		All:    cfg.Misfire == job.MisfireAll,
		Most:   inforce.MisfireMax(cfg),
		Window: cfg.MisfireWindow,
		Jitter: jitter.Jitter{Job: cfg.Name, Most: cfg.Jitter},
	}
}

// Told returns when a fire is told of: when it has come, and its jitter is over.
func (m Policy) Told(fire time.Time) time.Time { return fire.Add(m.Jitter.Of(fire)) }

// TooLate tells whether a fire can no longer begin as one that is on time.
func (m Policy) TooLate(fire, now time.Time) bool {
	return !m.Ageless && now.Sub(m.Told(fire)) > LateAfter
}

// Tick adds a fire that came just now, and those that passed unseen before it. If missed fires are
// run as one anyway, the run of this one is theirs, too.
func (m Policy) Tick(d Due, fire time.Time, passed []time.Time) Due {
	if !m.All {
		return Due{OnTime: fire}
	}
	d = m.Merge(m.Miss(d).DropAhead(fire.Add(-1)), passed...)
	d.OnTime = fire
	return d
}

// Miss turns the fire that is on time into a missed one, or into nothing if the job does not make
// missed fires up.
func (m Policy) Miss(d Due) Due {
	if d.OnTime.IsZero() {
		return d
	}
	fire := d.OnTime
	d.OnTime = time.Time{}
	return m.add(d, fire)
}

// add adds missed fires, which are later than those that d has, and drops those that the job does not
// make up.
func (m Policy) add(d Due, fires ...time.Time) Due {
	if len(fires) == 0 {
		return d
	}
	all := append(d.Missed[:len(d.Missed):len(d.Missed)], fires...)
	d.Missed = m.Keep(all)
	return d
}

// Merge adds missed fires of any time, of which d may have some. One run for all stands for the older
// ones, too.
func (m Policy) Merge(d Due, fires ...time.Time) Due {
	if !m.On || len(fires) == 0 {
		return d
	}
	all := jobtree.MissedFires(append(slices.Clone(d.Missed), fires...)...)
	if !d.OnTime.IsZero() {
		if all[len(all)-1].After(d.OnTime) {
			all = jobtree.MissedFires(append(all, d.OnTime)...) // fires begin in their order
			d.OnTime = time.Time{}
		} else {
			all = slices.DeleteFunc(all, d.OnTime.Equal)
		}
	}
	if !m.All && !d.OnTime.IsZero() {
		d.Missed = nil
		return d
	}
	d.Missed = m.dropBeyond(all)
	return d
}

// Expire turns what is too late to be on time into a missed fire, and drops what is too old to be made
// up.
func (m Policy) Expire(d Due, now time.Time) Due {
	if !d.OnTime.IsZero() && m.TooLate(d.OnTime, now) {
		d = m.Miss(d)
	}
	return m.dropOld(d, now)
}

// late tells whether an execution that began for a fire can no longer start as what it began as: the
// registry took so long to confirm the begin that the fire is now a missed one, or too old to be made
// up. A run by hand and the rerun of a lost one are never late.
func (m Policy) late(begun *jobtree.Execution, now time.Time) bool {
	switch begun.Source {
	case job.Scheduled:
		return m.TooLate(begun.Fire, now)
	case job.Misfire:
		return m.Window > 0 && now.Sub(begun.Fire) > m.Window
	default:
		return false
	}
}

// StillWanted tells whether an execution may start if its begin is confirmed now. An execution that began as
// on time starts as a missed one, if that is what it is by now.
func (m Policy) StillWanted(begun *jobtree.Record, now time.Time) bool {
	if !m.late(begun.Current, now) {
		return true
	}
	missed := *begun.Current
	missed.Source = job.Misfire
	if !m.On || m.late(&missed, now) {
		return false
	}
	begun.Current = &missed
	return true
}

// Until returns the time until which the begin of the next fire makes sense, zero if that is always. One
// of a job that makes nothing up is of no use unless it is confirmed in time, too, which usually takes a
// while.
func (m Policy) Until(d Due, usual time.Duration) time.Time {
	fire, source := d.Next()
	switch {
	case source == job.Misfire && m.Window > 0:
		return fire.Add(m.Window)
	case source == job.Misfire || m.Ageless:
		return time.Time{}
	case m.On:
		return m.Told(fire).Add(LateAfter)
	default:
		return m.Told(fire).Add(LateAfter - min(2*usual, LateAfter/2))
	}
}
