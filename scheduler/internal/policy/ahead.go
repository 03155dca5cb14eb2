package policy

import (
	"time"

	"github.com/elasticron/elasticron/cronexpr"
)

// Ahead are the fires of a job that this process's clock has ticked, and for which nothing may begin yet, as it is too far
// ahead of the registry's. They are told of when they come by that one. If they were told of at once, each would take the place
// of the one before, under a policy of one run for all, and none would ever have its time. The zero Ahead is none.
type Ahead struct{ first, last time.Time }

// None tells whether there are none.
func (a *Ahead) None() bool { return a.first.IsZero() }

// Next returns the earliest.
func (a *Ahead) Next() time.Time { return a.first }

// Add adds all fires from first to last, which a tick has told of.
func (a *Ahead) Add(first, last time.Time) {
	if a.None() || first.Before(a.first) {
		a.first = first
	}
	a.last = Later(a.last, last)
}

// Come takes those out that come up to now, which is the registry's time if this clock is wrong, and returns the first and the
// newest of them; ok is false if there are none. Those after passed come again, as this process's clock was set back: they are
// forgotten.
func (a *Ahead) Come(s cronexpr.Schedule, now, passed time.Time) (first, newest time.Time, ok bool) {
	if !a.None() && a.last.After(passed) {
		a.last = cronexpr.Last(s, a.first.Add(-1), passed)
	}
	if a.last.IsZero() {
		*a = Ahead{}
		return first, newest, false
	}
	if a.first.After(now) {
		return first, newest, false
	}
	first, newest = a.first, a.last
	if newest.After(now) {
		newest = cronexpr.Last(s, first.Add(-1), now)
	}
	if a.first = s.Next(newest); a.first.After(a.last) || a.first.IsZero() {
		*a = Ahead{}
	}
	return first, newest, true
}
