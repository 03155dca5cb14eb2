package policy

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
)

// Witness is what a runner remembers of its clock: which of the job's fires it ticked, so that an item
// that comes to this instance can make up what its former owners missed. The ticks of all processes are
// the same instants, so it does not matter whose the item was then. A Witness is a few times, whatever the
// number of items: the schedule says which fires lie between two times.
type Witness struct {
	spans []span // ascending, of the job's present times
	open  bool   // the newest span goes on with the next tick
	total int    // items that the job had when this was last looked at
	gaps  *gaps  // nil = none, as of most jobs
}

// gaps say when an item could not fire.
type gaps struct {
	grown   []growth          // ascending in both of its fields
	barred  map[int]time.Time // items that were disabled, or not there: the newest fire that came until then
	barring map[int]struct{}  // disabled items
	void    []span            // times in which no item could; ascending
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

// Saw notes a tick of all fires from first to fire.
func (w *Witness) Saw(first, fire time.Time) {
	switch last := len(w.spans) - 1; {
	case last >= 0 && !fire.After(w.spans[last].to): // the clock was set back
	case w.open && last >= 0:
		w.spans[last].to = fire
	default:
		w.spans = append(w.spans[max(0, len(w.spans)+1-spansKept):], span{after: first.Add(-1), to: fire})
	}
	w.open = true
}

// Forget forgets all ticks: they were of other times.
func (w *Witness) Forget() {
	w.spans, w.open = nil, false
	if g := w.gaps; g != nil {
		*g = gaps{barring: g.barring}
	}
}

// Void notes that no item could fire in a time, or that nobody knows for what they have run: the job was disabled, or kept
// no records, or had other times.
func (w *Witness) Void(from, until time.Time) {
	g := w.noted()
	g.void = append(g.void[max(0, len(g.void)+1-spansKept):], span{after: from, to: until})
}

// noted returns the gaps for one more.
func (w *Witness) noted() *gaps {
	if w.gaps == nil {
		w.gaps = new(gaps)
	}
	return w.gaps
}

// Missing notes that fires may come that are not ticked.
func (w *Witness) Missing() { w.open = false }

// Newest returns the newest fire that was ticked; zero if there is none.
func (w *Witness) Newest() time.Time {
	if len(w.spans) == 0 {
		return time.Time{}
	}
	return w.spans[len(w.spans)-1].to
}

// Has tells whether a fire was ticked.
func (w *Witness) Has(fire time.Time) bool {
	return slices.ContainsFunc(w.spans, func(s span) bool { return fire.After(s.after) && !fire.After(s.to) })
}

// Fires lists the fires that were ticked after from and up to until, the newest if there are more than
// are kept.
func (w *Witness) Fires(schedule cronexpr.Schedule, from, until time.Time, keep int) []time.Time {
	var fires []time.Time
	for _, s := range slices.Backward(w.spans) {
		if s.after.Before(from) {
			s.after = from
		}
		if s.to.After(until) {
			s.to = until
		}
		fires = append(newest(schedule, s.after, s.to, keep-len(fires)), fires...)
	}
	return fires
}

// Follow notes how many items the job has. Fires up to a time have come, whether or not they were ticked.
func (w *Witness) Follow(total int, come time.Time) {
	if newest := w.Newest(); total > w.total && (w.total > 0 || !newest.IsZero()) {
		g := w.noted()
		g.grown = slices.DeleteFunc(g.grown, func(g growth) bool { return g.from >= w.total })
		g.grown = append(g.grown, growth{from: w.total, since: Later(newest, come)})
	}
	w.total = total
}

// Bar notes whether an item is disabled.
func (w *Witness) Bar(n int, disabled bool) {
	was := false
	if w.gaps != nil {
		_, was = w.gaps.barring[n]
	}
	switch {
	case disabled && !was:
		g := w.noted()
		if g.barring == nil {
			g.barring = make(map[int]struct{})
		}
		g.barring[n] = struct{}{}
	case was && !disabled:
		delete(w.gaps.barring, n)
		w.Renew(n)
	}
}

// Renew notes that an item could not fire until now.
func (w *Witness) Renew(n int) {
	newest := w.Newest()
	if newest.IsZero() {
		return
	}
	g := w.noted()
	if g.barred == nil {
		g.barred = make(map[int]time.Time)
	}
	g.barred[n] = newest
}

// Floor returns the newest fire that came while an item could not fire; for that fire and those
// before it, the item owes nothing but what is noted.
func (w *Witness) Floor(n int) time.Time {
	if w.gaps == nil {
		return time.Time{}
	}
	floor := w.gaps.barred[n]
	for _, g := range w.gaps.grown {
		if g.from <= n && g.since.After(floor) {
			floor = g.since
		}
	}
	return floor
}
