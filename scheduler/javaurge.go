package scheduler

import (
	"errors"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/registry"
)

// urgeAfter is how long an assignment of a Java leader may be another one than the members want before
// it is asked for again.
const urgeAfter = 2 * time.Second

// urging notices that a Java leader forgot somebody: it deletes a request that came while it was
// assigning, and who joined meanwhile gets nothing until the next change of members.
type urging struct {
	since time.Time         // since when the assignment is not the one wanted; zero = it is
	asked registry.Revision // the newest of what members and settings were made of when this one asked
	look  bool              // something has changed since the last look
}

// urge asks a Java leader for a resharding that it forgot: once for each state of members and settings,
// since what it then assigns is what it wants.
func (s *shared) urge() {
	r := s.runner
	st := r.state
	if r.leads() || !st.LedByJava() || st.Necessary != 0 || st.JavaReshards() {
		s.since = time.Time{}
		return
	}
	if !s.look && s.since.IsZero() {
		return
	}
	s.look = false
	basis := newestOf(st)
	var forgot bool
	if basis > s.asked {
		var known bool
		if forgot, known = s.forgot(); !known {
			return
		}
	}
	if !forgot {
		s.since = time.Time{}
		return
	}
	if s.since.IsZero() {
		s.since = time.Now()
	}
	if wait := urgeAfter - time.Since(s.since); wait > 0 {
		r.alarm.Set(wait)
		return
	}
	revision, err := r.s.registry.Commit(r.attached.ctx, registry.Txn{
		If:   []registry.Condition{r.mine()},
		Then: []registry.Write{registry.Put(r.tree.Necessary(), "")},

		Repeat: registry.RepeatHarmless, // a resharding that nobody needs changes nothing
	})
	if err != nil {
		r.refused("ask for a resharding", err)
		return
	}
	s.asked, s.since = basis, time.Time{}
	r.committed(revision)
	r.log.InfoContext(r.life, "asked for a resharding: the Java leader left out an instance or an item")
}

// forgot tells whether the assignment is another one than the leader's strategy wants of the present
// members and settings; known is false while that is not known.
func (s *shared) forgot() (forgot, known bool) {
	r := s.runner
	strategy, err := r.strategyOf()
	if err != nil {
		return false, true
	}
	plan, err := resharding.PlanOf(r.state, strategy, r.state.Leader.Created)
	return err == nil && plan.Moved+plan.Held > 0, !errors.Is(err, errAsked)
}

// newestOf returns the newest change of what an assignment is made of.
func newestOf(s *jobtree.State) registry.Revision {
	newest := max(s.Config.Revision, s.Leader.Created)
	for _, i := range s.Instances {
		newest = max(newest, i.Created)
	}
	for _, server := range s.Servers {
		newest = max(newest, server.Revision)
	}
	return newest
}
