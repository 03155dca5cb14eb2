package operate

import (
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Following makes a [Namespace] of each state that a view of the whole namespace shows, and decides again only about
// jobs that changed. What it returns stays as it is. A Following itself is for one goroutine at a time.
type Following struct {
	java      bool
	schedules map[timing]cronexpr.Schedule
	shown     *Namespace
}

// NewFollowing returns one that has seen nothing. java is what [MayHoldJava] says of the registry.
func NewFollowing(java bool) *Following {
	return &Following{java: java, schedules: make(map[timing]cronexpr.Schedule), shown: &Namespace{}}
}

// Shown returns what Show returned last; before the first time an empty namespace.
func (f *Following) Shown() *Namespace { return f.shown }

// JobOf returns the name of the job to which a path belongs.
func JobOf(path string) string { return jobOf(path) }

// Show returns the namespace of a snapshot, as of now. changed names the jobs in which anything is other than in the
// snapshot before, in any order; late those of which nothing changed but that are to be judged by the new time. The
// others stay as they were judged.
func (f *Following) Show(snapshot registry.Snapshot, changed, late []string, now time.Time) *Namespace {
	if len(f.schedules) > 2*len(f.shown.jobs)+64 { // of settings that nobody has any more
		clear(f.schedules)
	}
	again := make(map[string]*look, len(changed)+len(late))
	for _, name := range late {
		if l := f.shown.find(name); l != nil {
			again[name] = l.at(now, f.schedules)
		}
	}
	for _, name := range changed {
		step := registry.Step{Snapshot: registry.NewSnapshot(snapshot.Revision(), nil)}
		for n := range snapshot.Below(jobtree.For(name).Root()) {
			step.Changes = append(step.Changes, registry.Change{New: n})
		}
		again[name] = lookAt(name, step, now, f.java, f.schedules)
	}
	f.shown = &Namespace{revision: snapshot.Revision(), now: now, jobs: f.shown.with(again)}
	return f.shown
}

// with returns the jobs of the namespace, with some of them as they look now; nil is one that there is not any more.
func (n *Namespace) with(again map[string]*look) []*look {
	jobs := make([]*look, 0, len(n.jobs)+len(again))
	for _, l := range n.jobs {
		if now, is := again[l.name()]; is {
			l = now
		}
		if l != nil {
			jobs = append(jobs, l)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(again)) {
		if l := again[name]; l != nil && n.find(name) == nil {
			jobs = append(jobs, l)
		}
	}
	if !slices.IsSortedFunc(jobs, byName) {
		slices.SortFunc(jobs, byName)
	}
	return jobs
}

func byName(a, b *look) int { return strings.Compare(a.name(), b.name()) }

// at returns the same, looked at at another time.
func (l *look) at(now time.Time, schedules map[timing]cronexpr.Schedule) *look {
	again := newLook(l.st, now, schedules)
	again.noted = l.noted
	return again
}

// Of returns what the namespace shows of one job alone: instances and servers are there with this job only.
func (n *Namespace) Of(job string) *Namespace {
	only := &Namespace{revision: n.revision, now: n.now}
	if l := n.find(job); l != nil {
		only.jobs = []*look{l}
	}
	return only
}

// NextFires returns up to so many of a job's next fires after a time, in UTC; none if nobody may run it or if that is not
// known. Of a job with a fixed delay only the next one is.
func (n *Namespace) NextFires(job string, after time.Time, most int) (fires []time.Time) {
	l := n.find(job)
	switch {
	case l == nil || l.schedule == nil || !l.st.AnybodyEnabled():
		return nil
	case l.delay != 0:
		if next := l.nextAfterDelay(); next.After(after) && most > 0 {
			fires = append(fires, next.UTC())
		}
		return fires
	}
	return upcoming(l.schedule, after, most)
}

// upcoming returns up to so many of a schedule's fires after a time, in UTC.
func upcoming(schedule cronexpr.Schedule, after time.Time, most int) (fires []time.Time) {
	for fire := range cronexpr.Upcoming(schedule, after) {
		if len(fires) >= most {
			break
		}
		fires = append(fires, fire.UTC())
	}
	return fires
}

// Fires yields a job's fires that lie after a time and not after another, in UTC; none where [Namespace.NextFires] gives none,
// and none of a job with a fixed delay.
func (n *Namespace) Fires(job string, after, until time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		l := n.find(job)
		if l == nil || l.schedule == nil || l.delay != 0 || !l.st.AnybodyEnabled() {
			return
		}
		for fire := range cronexpr.Between(l.schedule, after, until) {
			if !yield(fire.UTC()) {
				return
			}
		}
	}
}

// ChangesAt returns when a job looks other by the clock alone: its next fire comes, or an item becomes overdue. It is
// the zero time if that does not happen.
func (n *Namespace) ChangesAt(job string) (at time.Time) {
	l := n.find(job)
	if l == nil || l.schedule == nil || l.delay != 0 || !l.st.AnybodyEnabled() {
		return time.Time{}
	}
	at = l.schedule.Next(l.now)
	late := inforce.OverdueAfter(l.st.Config.Value)
	if fire := l.schedule.Next(l.now.Add(-late)); !fire.IsZero() && (at.IsZero() || fire.Add(late).Before(at)) {
		at = fire.Add(late)
	}
	return at
}
