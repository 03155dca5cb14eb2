package policy

import (
	"time"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// LateAfter is how late a scheduled fire may begin and still count as on time.
const LateAfter = inforce.LateAfter

// TooLate tells whether a fire can no longer begin as one that is on time.
func (m Policy) TooLate(fire, now time.Time) bool {
	return !m.Ageless && now.Sub(m.due(fire)) > LateAfter
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
		return m.due(fire).Add(LateAfter)
	default:
		return m.due(fire).Add(LateAfter - min(2*usual, LateAfter/2))
	}
}
