package javapeers

import (
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

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
