package javapeers

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Before implements [peers.Watcher]: it notes what a step of the view takes away and the state will not know any
// more.
func (s *java) Before(v room.View, step registry.Step) {
	s.noteAnotherJob(v, step)
	s.noteOwners(v, step)
	s.noteRuns(v, step)
	s.noteOnce(step)
	s.lookForCrashes(v, step)
	s.claimed.note(v, step)
}

// noteAnotherJob forgets what was of the job that a step takes away: what is stored next, be it in the same step, is another
// one. Its instances went with it, and nobody has shut them down.
func (s *java) noteAnotherJob(v room.View, step registry.Step) {
	config := v.Tree.Config()
	for _, change := range step.Changes {
		if change.Path() == config && change.Old.Created != change.New.Created {
			s.lastCron, s.departure = lastCron{}, departure{}
		}
	}
}

// After implements [peers.Watcher]: a leader plans again when an item has ended that is to be moved.
func (s *java) After(v room.View, t jobtree.Touched) (plan bool) {
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
