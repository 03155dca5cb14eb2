package javapeers

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// urgeAfter is how long an assignment of a Java leader may be another one than the members want before
// it is asked for again.
const urgeAfter = 2 * time.Second

// urging notices that a Java leader forgot somebody: it deletes a request that came while it was
// assigning, and who joined meanwhile gets nothing until the next change of members.
type urging struct {
	since time.Time // since when the assignment is not the one wanted; zero = it is
	asked basis     // of the assignment when this one asked
	look  bool      // something has changed since the last look
}

// Urge implements [peers.Leaders]: it proposes to ask a Java leader for a resharding that it forgot, once for
// each state of members and settings, since what it then assigns is what it wants.
func (s *java) Urge(v room.View) room.Batch {
	st := v.State
	if v.Leads() || !st.LedByJava() || st.Necessary != 0 || st.JavaReshards() {
		s.since = time.Time{}
		return nil
	}
	if !s.look && s.since.IsZero() {
		return nil
	}
	s.look = false
	now := basisOf(st)
	var forgot bool
	if now != s.asked {
		var known bool
		if forgot, known = s.forgot(v); !known {
			return nil
		}
	}
	if !forgot {
		s.since = time.Time{}
		return nil
	}
	if s.since.IsZero() {
		s.since = time.Now()
	}
	if wait := urgeAfter - time.Since(s.since); wait > 0 {
		s.ports.Wake(wait)
		return nil
	}
	txn := registry.Txn{
		If:   []registry.Condition{v.Mine()},
		Then: []registry.Write{registry.Put(v.Tree.Necessary(), "")},

		Repeat: registry.RepeatHarmless, // a resharding that nobody needs changes nothing
	}
	return room.Batch{{Step: "ask for a resharding", Txn: txn, Done: func(registry.Outcome) {
		s.asked, s.since = now, time.Time{}
		s.ports.Log().InfoContext(s.ports.Life(), "asked for a resharding: the Java leader left out an instance or an item")
	}}}
}

// forgot tells whether the assignment is another one than the leader's strategy wants of the present
// members and settings; known is false while that is not known.
func (s *java) forgot(v room.View) (forgot, known bool) {
	if !v.State.MembersMatter() {
		return false, true // it has left nobody out
	}
	strategy, err := s.ports.Strategy()
	if err != nil {
		return false, true
	}
	plan, err := resharding.PlanOf(v.State, strategy, v.State.Leader.Created)
	return err == nil && plan.Moved+len(plan.Held) > 0, !protect.Is(err, peers.ErrAsked)
}

// basis tells states of members and settings from each other. What comes is newer than all before, and what only goes
// makes the sum less.
type basis struct{ newest, sum registry.Revision }

// basisOf returns what an assignment is made of.
func basisOf(s *jobtree.State) basis {
	b := basis{newest: max(s.Config.Revision, s.Leader.Created)}
	add := func(r registry.Revision) {
		b.newest = max(b.newest, r)
		b.sum += r
	}
	for _, i := range s.Instances {
		add(i.Created)
	}
	for _, server := range s.Servers {
		add(server.Revision)
	}
	return b
}
