package javapeers

import (
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Before implements [peers.Watcher]: it notes what a step of the view takes away and the state will not know any
// more.
func (s *java) Before(v room.View, step registry.Step) {
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		if ok && name.Kind == jobtree.KindItemInstance && change.Old.Value != "" && change.Old.Value != change.New.Value {
			s.former[name.Item] = change.Old.Value
		}
	}
	s.noteRuns(v, step)
	s.lookForCrashes(v, step)
}

// After implements [peers.Watcher]: a leader plans again when an item has ended that is to be moved.
func (s *java) After(v room.View, t jobtree.Touched) (plan bool) {
	if t.Config && v.State.Config.Revision == 0 {
		s.lastCron = lastCron{} // what is stored next is another job
	}
	s.look = true
	s.taken.Note(t.Items, t.Instances)
	return s.held && len(t.Items) > 0
}

// Ticked implements [peers.Watcher].
func (s *java) Ticked(v room.View) { s.blocked = v.State.JavaReshards() }

// LookAgain implements [peers.Watcher].
func (s *java) LookAgain() { s.taken.Note(nil, true) }

// LookAtAssignment implements [peers.Watcher].
func (s *java) LookAtAssignment() { s.look = true }

// Planned implements [peers.Leaders].
func (s *java) Planned(held bool) { s.held = held }

// Decide implements [peers.Peers].
func (s *java) Decide(v room.View) []room.Batch { return []room.Batch{s.yield(v), s.settleLosses(v)} }

// PastKnown implements [peers.Executors]: the former owner wrote the item's record, or nobody ran it for the
// newest tick, because a Java leader was resharding then, and every Java instance waited for that.
func (s *java) PastKnown(node jobtree.Item) bool {
	owner := s.former[node.Number]
	last := node.Record.Value.Current
	return s.blocked || owner != "" && last != nil && last.Instance == owner
}

// Unnamed implements [peers.Executors]: a note of Java's says that an item missed fires and not which.
func (s *java) Unnamed(v room.View, node jobtree.Item) []time.Time {
	if !node.Misfire.Exists() || !node.Misfire.Value.Newest().IsZero() {
		return nil
	}
	return missedByJava(v, node.Record.Value.LastFire)
}

// missedByJava returns the fire that stands for those that an item missed by a note of Java's, which
// says that there were some and not which: the newest one since it ran.
func missedByJava(v room.View, ran time.Time) []time.Time {
	const longest = 366 * 24 * time.Hour
	now := v.Clock.Now()
	from := now.Add(-longest)
	if ran.After(from) {
		from = ran
	}
	if fire := cronexpr.Last(v.Rules.Schedule, from, now); !fire.IsZero() {
		return []time.Time{fire}
	}
	return nil
}
