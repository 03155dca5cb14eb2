package scheduler

import (
	"errors"

	"github.com/elasticron/elasticron/registry"
)

// errRemains is why a session is given up when Run returns.
var errRemains = errors.New("the scheduler has stopped and could not take back what it holds")

// giveUpRemains gives the session up if one of the runners may have left something in the tree: the registry
// did not answer until the stop was over, or it refused. A handle that stays open would keep the session, or
// take it up again, and with it an instance that runs nothing and marks under which nothing runs; others would
// wait for those for as long as the handle is open. Runners must be at rest.
func (s *Scheduler) giveUpRemains(runners []*runner) {
	s.mu.Lock()
	session := s.session
	s.mu.Unlock()
	for _, r := range runners {
		if session != nil && r.remains(session) {
			r.log.WarnContext(r.life, "gave the session up: the registry did not take what a stop had to tell it",
				logSession, session.ID().String())
			session.Abandon(errRemains)
			return
		}
	}
}

// remains tells whether the tree may still show what this runner holds under a session, or a session that was
// the same to the registry.
func (r *runner) remains(session *registry.Session) bool {
	switch {
	case !r.started:
		return false
	case r.unsettled != nil && r.unsettled.ID() == session.ID():
		return true
	case r.left && r.isDrained():
		return false // whatever its view has not shown yet
	case r.needed > r.applied:
		return true
	}
	for node := range r.blind.snapshot.All() { // the last that was shown, also to who sees
		if node.Session == session.ID() {
			return true
		}
	}
	return false
}
