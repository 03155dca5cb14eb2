package policy

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
)

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
