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

	leaving []int  // what others are to have of this instance's items, while it does not lead
	answer  answer // of the strategy, which says so
}

// answer is how far a strategy has answered.
type answer string

const (
	notAsked answer = "" // or something has changed since
	pending  answer = "pending"
	known    answer = "known"
)

// askAnew has the strategy asked again if it has yet to answer: once a decision, and not for each item.
func (r *rests) askAnew() {
	if r.answer == pending {
		r.answer = notAsked
	}
}

// resting tells whether an item rests.
func (r *rests) resting(item int) bool {
	_, rests := r.until[item]
	return rests
}

// noteAssignment takes in that the assignment may have changed, or the one that is wanted.
func (s *java) noteAssignment(t jobtree.Touched) {
	wanted := t.Config || t.Servers || t.Instances || t.Leader
	if wanted || t.Epoch || t.Owners {
		s.answer, s.stays = notAsked, nil
	}
	if wanted {
		s.noteChange()
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
	s.askAnew()
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

// mayRest tells whether an item is to rest. Where missed fires are not made up, there is time between
// a run and the next fire. Such an item rests only if that was not enough, or what ran of it may have been asked to end.
func (s *java) mayRest(v room.View, item int) bool {
	madeUp := v.Rules.On && v.Rules.Delay == 0
	return (madeUp || s.stands()) && s.mayGo(v, item) && s.toGo(v, item)
}

// mayGo tells whether a leader of ours moves an item of this instance, if it is to go, and has not let it rest in vain.
func (s *java) mayGo(v room.View, item int) bool {
	return v.Owns(item) && !s.stays[item] && !v.State.LedByJava()
}

// toGo tells whether others are to have an item of this instance.
func (s *java) toGo(v room.View, item int) bool {
	_, found := slices.BinarySearch(s.others(v), item)
	return found
}

// others lists what others are to have of this instance's items, ascending.
func (s *java) others(v room.View) []int {
	if v.Leads() {
		return s.held
	}
	if s.answer != notAsked {
		return s.leaving
	}
	s.leaving, s.answer = nil, known
	if !v.State.MembersMatter() {
		return nil
	}
	strategy, err := s.ports.Strategy()
	if err == nil {
		s.leaving, err = resharding.Leaving(v.State, strategy, v.Instance)
	}
	if protect.Is(err, peers.ErrAsked) {
		s.answer, s.lookAtRuns = pending, true // when it comes
	}
	return s.leaving
}
