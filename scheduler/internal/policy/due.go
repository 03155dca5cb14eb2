package policy

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/job"
)

// Due are the fires of an item that want to be run; the zero Due is none. A fire is on time until
// something keeps it from beginning; then it is missed.
type Due struct {
	OnTime time.Time   // the newest fire, unless it was missed; zero = none
	Missed []time.Time // fires to be made up, ascending; of those before OnTime
}

// None tells whether nothing is due.
func (d Due) None() bool { return d.OnTime.IsZero() && len(d.Missed) == 0 }

// Next returns the fire that is to be run next, and why; zero if there is none. Missed ones come
// first: the newest fire that an item ran for is the bound for all later ones.
func (d Due) Next() (time.Time, job.Source) {
	if len(d.Missed) > 0 {
		return d.Missed[0], job.Misfire
	}
	return d.OnTime, job.Scheduled
}

// After returns what is still due when the item has run for a fire.
func (d Due) After(fire time.Time) Due {
	for len(d.Missed) > 0 && !d.Missed[0].After(fire) {
		d.Missed = d.Missed[1:]
	}
	if !d.OnTime.After(fire) {
		d.OnTime = time.Time{}
	}
	return d
}

// Without returns what is due beside a fire.
func (d Due) Without(fire time.Time) Due {
	if i := slices.IndexFunc(d.Missed, fire.Equal); i >= 0 {
		d.Missed = slices.Delete(slices.Clone(d.Missed), i, i+1)
	}
	if d.OnTime.Equal(fire) {
		d.OnTime = time.Time{}
	}
	return d
}

// Newest returns the newest fire that is due; zero if there is none.
func (d Due) Newest() time.Time {
	if d.OnTime.IsZero() && len(d.Missed) > 0 {
		return d.Missed[len(d.Missed)-1]
	}
	return d.OnTime
}

// Owed returns the fires that d says are still to be run, in order; what is on time now will have been
// missed when somebody else reads it.
func (d Due) Owed() []time.Time {
	if d.OnTime.IsZero() {
		return d.Missed
	}
	return append(d.Missed[:len(d.Missed):len(d.Missed)], d.OnTime)
}

// Holds tells whether a fire is due.
func (d Due) Holds(fire time.Time) bool {
	return d.OnTime.Equal(fire) || slices.ContainsFunc(d.Missed, fire.Equal)
}
