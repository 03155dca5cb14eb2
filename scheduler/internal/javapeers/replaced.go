package javapeers

import (
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// replaced finds the executions whose process is gone although an instance of its id is there: a JVM that starts again under
// the same id, before the session of the one before it is over, takes the place of that one's node. The marks go with that
// session, later, all in one revision. A process that connects again in another session takes its marks away as soon as it
// has made its node, one after the other and each in a revision of its own, as fast as the store lets it.
type replaced struct {
	by map[registry.SessionID]replacement // by the former session, of which a mark stood
}

// replacement is what became of an instance's node.
type replacement struct {
	instance string
	since    time.Time // when another session was seen to make it anew; zero if none was
}

// take returns the executions that are known to have gone when a step is taken in. The state is the one before it.
func (r *replaced) take(s *jobtree.State, step registry.Step, now time.Time) (found []execution) {
	claims := make(map[int]registry.Change) // that go
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		switch {
		case !ok:
		case name.Kind == jobtree.KindInstance:
			r.note(s, name.Key, change, now)
		case name.Kind == jobtree.KindItemFailover && change.Kind() == registry.Removed:
			claims[name.Item] = change
		}
	}
	if len(r.by) == 0 {
		return nil
	}
	for _, change := range step.Changes {
		name, ok := jobtree.Parse(change.Path())
		if !ok || name.Kind != jobtree.KindItemRunning || change.Kind() != registry.Removed {
			continue
		}
		other, known := r.by[change.Old.Session]
		if known && clears(s, step, change) {
			delete(r.by, change.Old.Session)
			continue
		}
		if !known || other.since.IsZero() || now.Sub(other.since) < confirmReplaced || !s.Enabled(other.instance) {
			continue
		}
		if claim, goes := claims[name.Item]; s.Item(name.Item).Failover.Session == change.Old.Session && (!goes || !together(change, claim)) {
			continue // it ends its run: its claim goes after its mark
		}
		found = append(found, execution{item: name.Item, instance: other.instance, mark: change.Old})
	}
	return found
}

// clears tells whether marks of a session do not go together, of which a step takes one away: then it is not the session's
// end that takes them.
func clears(s *jobtree.State, step registry.Step, gone registry.Change) bool {
	for item := range s.Items() {
		mark := s.Item(item).Running
		if mark.Session != gone.Old.Session || s.Tree().ItemRunning(item) == gone.Path() {
			continue
		}
		other := slices.IndexFunc(step.Changes, func(c registry.Change) bool { return c.Path() == s.Tree().ItemRunning(item) })
		if other >= 0 && !together(gone, step.Changes[other]) || other < 0 && gone.Removed <= step.Snapshot.Revision() {
			return true
		}
	}
	return false
}

// note takes in a change of an instance's node.
func (r *replaced) note(s *jobtree.State, id string, change registry.Change, now time.Time) {
	former, is := change.Old.Session, change.New.Session
	if former != 0 && former != is && jobtree.JavaInstance(id) {
		maps.DeleteFunc(r.by, func(session registry.SessionID, _ replacement) bool { return !marks(s, session) })
		if marks(s, former) {
			if r.by == nil {
				r.by = make(map[registry.SessionID]replacement)
			}
			r.by[former] = replacement{instance: id}
		}
	}
	if is == 0 {
		return
	}
	delete(r.by, is) // the process connected again
	for session, other := range r.by {
		if other.instance == id && other.since.IsZero() {
			r.by[session] = replacement{id, now}
		}
	}
}

// marks tells whether a mark of a session stands.
func marks(s *jobtree.State, session registry.SessionID) bool {
	for item := range s.Items() {
		if s.Item(item).Running.Session == session {
			return true
		}
	}
	return false
}
