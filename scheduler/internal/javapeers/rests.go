package javapeers

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// mostRest is how long an item rests at most. A leader moves it within moments, unless a fire is near: see [afterFire].
const mostRest = 3 * time.Second

// rests are the items of this instance that wait for a leader of ours to move them. An item that runs is not moved. One that
// is busy for longer than the time between its fires has missed some by its end, and would begin for them before the leader
// has looked at the assignment: each time, so that whoever joins to help gets nothing. So what is to be moved rests after a
// run.
//
// The leader cannot do that alone. It would have to be faster than an owner that is perhaps nearer to the registry; and a Java
// instance that begins again for missed fires does not look whose the item is by then.
type rests struct {
	ended []int             // items of which a run has ended here since the last decision
	until map[int]time.Time // by item that rests
	stays map[int]bool      // items that have rested in vain since the assignment changed, or what it is made of

	leaving []int // what others are to have of this instance's items, while it does not lead
	known   bool  // that is known
}

// resting tells whether an item rests.
func (r *rests) resting(item int) bool {
	_, rests := r.until[item]
	return rests
}

// noteAssignment takes in that the assignment may have changed, or the one that is wanted.
func (r *rests) noteAssignment(t jobtree.Touched) {
	if t.Config || t.Servers || t.Instances || t.Leader || t.Epoch || t.Owners {
		r.known, r.stays = false, nil
	}
}

// noteEnd takes in a change of an item's mark.
func (r *rests) noteEnd(v room.View, item int, change registry.Change) {
	if change.Kind() == registry.Removed && change.Old.Value == v.Instance {
		r.ended = append(r.ended, item)
	}
}

// settleRests begins and ends rests.
func (s *java) settleRests(v room.View) {
	for _, item := range s.ended {
		if s.mayRest(v, item) {
			if s.until == nil {
				s.until = make(map[int]time.Time)
			}
			s.until[item] = time.Now().Add(mostRest)
		}
	}
	s.ended = nil
	for item, until := range s.until {
		if wait := time.Until(until); wait > 0 && s.mayRest(v, item) {
			s.ports.Wake(wait)
			continue
		} else if wait <= 0 {
			if s.stays == nil {
				s.stays = make(map[int]bool)
			}
			s.stays[item] = true
		}
		delete(s.until, item)
		s.ports.LookAgain(item)
	}
}

// mayRest tells whether an item is to rest. Where missed fires are not made up, there is time between a run and the next fire.
func (s *java) mayRest(v room.View, item int) bool {
	madeUp := v.Rules.On && v.Rules.Delay == 0
	return madeUp && v.Owns(item) && !s.stays[item] && !v.State.LedByJava() && slices.Contains(s.others(v), item)
}

// others lists what others are to have of this instance's items.
func (s *java) others(v room.View) []int {
	if v.Leads() {
		return s.held
	}
	if s.known {
		return s.leaving
	}
	s.leaving, s.known = nil, true
	if !v.State.MembersMatter() {
		return nil
	}
	strategy, err := s.ports.Strategy()
	if err == nil {
		s.leaving, err = resharding.Leaving(v.State, strategy, v.Instance)
	}
	s.known = !protect.Is(err, peers.ErrAsked)
	return s.leaving
}
