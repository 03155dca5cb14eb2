package scheduler

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
)

// witness is what a runner remembers of its clock: which of the job's fires it ticked, so that an item
// that comes to this instance can make up what its former owners missed. The ticks of all processes are
// the same instants, so it is no matter whose the item was when one came. It is a few times, whatever the
// number of items: which fires lie between two times is what the schedule is asked.
type witness struct {
	spans []span // ascending, of the job's present times
	open  bool   // the newest span goes on with the next tick

	// What is below says when an item was none that could fire.
	total   int               // items that the job had when this was last looked at
	grown   []growth          // ascending in both of its fields
	barred  map[int]time.Time // enabled items that were disabled: the newest fire that came until then
	barring map[int]struct{}  // disabled items
}

// span is a time in which a clock ticked every fire.
type span struct {
	after, to time.Time // later than after, and up to to
}

// growth says that items from a number on are part of the job since a fire.
type growth struct {
	from  int
	since time.Time
}

// spansKept is how many times of ticking are remembered, the newest. They end when a job's
// configuration cannot be used any more, or nobody may run it, which happens seldom.
const spansKept = 8

// saw notes a tick of all fires from first to fire.
func (w *witness) saw(first, fire time.Time) {
	switch last := len(w.spans) - 1; {
	case last >= 0 && !fire.After(w.spans[last].to): // the clock was set back
	case w.open && last >= 0:
		w.spans[last].to = fire
	default:
		w.spans = append(w.spans[max(0, len(w.spans)+1-spansKept):], span{after: first.Add(-1), to: fire})
	}
	w.open = true
}

// forget forgets all ticks: they were of other times.
func (w *witness) forget() { w.spans, w.open, w.grown, w.barred = nil, false, nil, nil }

// missing notes that fires may come that are not ticked.
func (w *witness) missing() { w.open = false }

// newest returns the newest fire that was ticked; zero if there is none.
func (w *witness) newest() time.Time {
	if len(w.spans) == 0 {
		return time.Time{}
	}
	return w.spans[len(w.spans)-1].to
}

// has tells whether a fire was ticked.
func (w *witness) has(fire time.Time) bool {
	return slices.ContainsFunc(w.spans, func(s span) bool { return fire.After(s.after) && !fire.After(s.to) })
}

// fires lists the fires that were ticked after from and up to until, the newest if there are more than
// are kept.
func (w *witness) fires(schedule cronexpr.Schedule, from, until time.Time, keep int) []time.Time {
	var fires []time.Time
	for _, s := range slices.Backward(w.spans) {
		if s.after.Before(from) {
			s.after = from
		}
		if s.to.After(until) {
			s.to = until
		}
		fires = append(newestFires(schedule, s.after, s.to, keep-len(fires)), fires...)
	}
	return fires
}

// newestFires lists the fires after from and up to until, the newest ones if there are more than are
// kept.
func newestFires(schedule cronexpr.Schedule, from, until time.Time, keep int) []time.Time {
	var fires []time.Time
	for len(fires) < keep && from.Before(until) {
		fire := cronexpr.Last(schedule, from, until)
		if fire.IsZero() {
			break
		}
		fires = append(fires, fire)
		until = fire.Add(-1)
	}
	slices.Reverse(fires)
	return fires
}

// follow notes how many items the job has.
func (w *witness) follow(total int) {
	if newest := w.newest(); total > w.total && !newest.IsZero() {
		w.grown = slices.DeleteFunc(w.grown, func(g growth) bool { return g.from >= w.total })
		w.grown = append(w.grown, growth{from: w.total, since: newest})
	}
	w.total = total
}

// bar notes whether an item is disabled.
func (w *witness) bar(n int, disabled bool) {
	_, was := w.barring[n]
	switch {
	case disabled && !was:
		if w.barring == nil {
			w.barring = make(map[int]struct{})
		}
		w.barring[n] = struct{}{}
	case was && !disabled:
		delete(w.barring, n)
		if newest := w.newest(); !newest.IsZero() {
			if w.barred == nil {
				w.barred = make(map[int]time.Time)
			}
			w.barred[n] = newest
		}
	}
}

// floor returns the newest fire that came while an item was none that could fire; of that and what was
// before it the item owes nothing but what is noted.
func (w *witness) floor(n int) time.Time {
	floor := w.barred[n]
	for _, g := range w.grown {
		if g.from <= n && g.since.After(floor) {
			floor = g.since
		}
	}
	return floor
}
