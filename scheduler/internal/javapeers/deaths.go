package javapeers

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// death is that of an instance, or what looked like one, as it had a mark.
type death struct {
	mark    registry.Revision  // that created the mark
	session registry.SessionID // of the process that made it
}

// noteDeaths notes what ran in instances of ElasticJob 3.x that a step takes away. The state is the one before it. What
// such an instance left is in the tree for as long as nobody comes, so only who saw it die knows when that was.
func (s *java) noteDeaths(v room.View, step registry.Step) {
	if s.of != jobtree.ElasticJob3 {
		return
	}
	gone := make(map[string]bool)
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		switch {
		case !ok:
		case name.Kind == jobtree.KindInstance && change.Old.Exists() && change.Old.Created != change.New.Created:
			gone[name.Key] = true
		case name.Kind == jobtree.KindItemRunning && change.New.Created != s.died[name.Item].mark:
			delete(s.died, name.Item)
		}
	}
	if len(gone) == 0 {
		return
	}
	for item := range v.State.Items() {
		if mark := v.State.Item(item).Running; mark.Exists() && gone[mark.Value] {
			s.remember(item, death{mark: mark.Created, session: mark.Session})
		}
	}
}

// remember notes of which session a mark is, or may be.
func (s *java) remember(item int, d death) {
	if s.died == nil {
		s.died = make(map[int]death)
	}
	s.died[item] = d
}

// lives tells whether what a mark is of perhaps runs on although the instance that it names is younger: its process has
// connected again, and does not take the mark away if its server is disabled. Who saw that session goes by it, and who did
// not takes the mark for that of the one that is there now, until that goes: also when the server is enabled again.
func (s *java) lives(v room.View, item int, mark jobtree.Mark) bool {
	instance := v.State.Instance(mark.Value)
	if instance.Created == 0 {
		return false
	}
	if d := s.died[item]; d.mark == mark.Created {
		return d.session == instance.Session
	}
	return !v.State.Enabled(instance.ID)
}
