package javapeers

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Before implements [peers.Watcher]: it notes what a step of the view takes away and the state will not know any
// more.
func (s *java) Before(v room.View, step registry.Step) {
	s.noteOwners(v, step)
	s.noteRuns(v, step)
	s.noteOnce(step)
	s.lookForCrashes(v, step)
	s.claimed.note(v, step)
}

// After implements [peers.Watcher]: a leader plans again when an item has ended that is to be moved.
func (s *java) After(v room.View, t jobtree.Touched) (plan bool) {
	if t.Config && v.State.Config.Revision == 0 {
		s.lastCron = lastCron{} // what is stored next is another job
	}
	s.look = true
	s.report(s.ports, v, t)
	s.left.Note(t.Items, t.Instances || t.Servers)
	s.taken.Note(t.Items, t.Instances)
	s.noteAssignment(t)
	return len(s.held) > 0 && len(t.Items) > 0
}

// Ticked implements [peers.Watcher].
func (s *java) Ticked(v room.View) { s.tick(v) }

// LookAgainAtAll implements [peers.Watcher].
func (s *java) LookAgainAtAll() {
	s.taken.AddAll()
	s.left.AddAll()
}

// LookAtAssignment implements [peers.Watcher].
func (s *java) LookAtAssignment() { s.look = true }
