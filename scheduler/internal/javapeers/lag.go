package javapeers

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// lag is how old the state may be. A process that stands still, or is cut off, for less than its session lasts hears of a fire
// before it hears that a Java instance has had the item by then, and has run it. So what is due of an item that it has lost by
// that is no missed fire, unless the state is known to be newer than the fire. It is as a rule, by what began for it here. If
// something is due and does not begin, the store is asked.
type lag struct {
	shown  time.Time // up to when the state shows all that the store was told, by such an answer; zero = there was none
	fired  bool      // a fire has come since that was asked for
	asking bool
}

// StillDue implements [peers.Executors].
func (s *java) StillDue(v room.View, due func() bool) {
	if !s.fired || s.asking || v.Blind {
		return
	}
	if s.fired = false; !due() {
		return
	}
	asked := v.Clock.Now()
	s.asking = true
	s.ports.WhenShown(func(shown bool) {
		if s.asking = false; shown {
			s.shown = asked
		}
	})
}

// shownUpTo returns up to when the state is known to show all that the store was told.
func (s *past) shownUpTo(v room.View) time.Time {
	shown := s.shown
	if s.under != nil && v.State.Instance(v.Instance).Session == s.under.Session.ID() { // this instance came after the session
		shown = later(shown, v.Clock.Now().Add(-time.Since(s.began)))
	}
	for item := range v.State.Items() {
		record := v.State.Record(item)
		if run := record.Value.Current; run != nil && run.Instance == v.Instance && record.Revision <= v.Applied {
			shown = later(shown, run.Begin)
		}
	}
	return shown
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// noteUnheard takes in that an item that was this instance's is given to an owner, and tells whether a Java instance may have had
// it when a fire came of which the state is not known to tell. Items do not go from Java to others right after a fire, so what
// came just now is not Java's if one of ours has the item.
func (s *past) noteUnheard(v room.View, step registry.Step, item int, owner string, shown func() time.Time) bool {
	if !v.Usable || owner == "" {
		return false
	}
	now := v.Clock.Passed()
	while := span{after: later(shown(), now.Add(-longestLook)), to: now}
	newest := cronexpr.Last(v.Rules.Schedule, while.after, while.to)
	if newest.IsZero() {
		return false
	}
	if !jobtree.JavaInstance(owner) {
		if now.Sub(newest) < heldAfter(v.Rules.Schedule, newest) {
			while.to = newest.Add(-1)
		}
		if !javaTakesPart(v, step) || cronexpr.Last(v.Rules.Schedule, while.after, while.to).IsZero() {
			return false
		}
	}
	s.noteTheirs(item, while)
	return true
}

// javaTakesPart tells whether a Java instance does, or did before a step or by it.
func javaTakesPart(v room.View, step registry.Step) bool {
	if slices.ContainsFunc(v.State.Instances, func(i jobtree.Instance) bool { return jobtree.JavaInstance(i.ID) }) {
		return true
	}
	return slices.ContainsFunc(step.Changes, func(c registry.Change) bool {
		name, ok := jobtree.Parse(c.Path())
		return ok && name.Kind == jobtree.KindInstance && jobtree.JavaInstance(name.Key)
	})
}
