package checker_test

import (
	"fmt"
	"testing"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// crashLoop has so many lives of a process join one after the other, get item 0 and die at once; each time the session ends,
// the next one is there. Then b gets the item.
func (s *story) crashLoop(lives int) {
	for k := range lives {
		id, session := fmt.Sprintf("10.0.0.3@-@%d", k), registry.SessionID(10+k)
		s.happen(checker.Started, id)
		s.commit(put(tree.Instance(id), "", session))
		s.commit(put(tree.ItemInstance(0), id, 0), s.epoch(2))
		s.happen(checker.Crashed, id)
		s.now = s.now.Add(5 * second)
		s.drop(session)
	}
	s.commit(put(tree.ItemInstance(0), b, 0), s.epoch(2))
}

// Each move of an item may be in time, and the item not get to those who live.
func TestItemsGetToThoseWhoLive(t *testing.T) {
	t.Parallel()
	never := lapses(checker.NoStall, "the item belonged to no living process")
	judgeAll(t, []chapter{
		{"a few times", func(s *story) { s.crashLoop(5); s.at(0); s.both() }, nil},
		{"again and again", func(s *story) { s.crashLoop(8); s.at(0); s.both() }, never},
		{"while nobody could be asked", func(s *story) {
			s.happen(checker.Down, "").Until = start.Add(39 * second)
			s.crashLoop(8)
			s.at(0)
			s.both()
		}, nil},
		{"while nobody else is enabled", func(s *story) {
			s.commit(put(tree.Server("10.0.0.1"), "DISABLED", 0), put(tree.Server("10.0.0.2"), "DISABLED", 0))
			s.crashLoop(8)
		}, nil},
	})
}

// both has b run the fire of item 0, and of its own.
func (s *story) both() {
	zero, one := s.begin(0, b, job.Scheduled, fire), s.begin(1, b, job.Scheduled, fire)
	s.at(second)
	s.end(0, zero, jobtree.Success)
	s.end(1, one, jobtree.Success)
}
