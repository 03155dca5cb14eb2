package javapeers

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

const (
	// afterFire is how long after a fire an item that comes from Java or goes there waits. Java instances fire by clocks of
	// their own and ask for their items then, and leave no record of what they ran for.
	afterFire = 2 * time.Second
	// beforeFire is the same before a fire, for clocks that are ahead.
	beforeFire = 200 * time.Millisecond
)

// nearFires hold moves from and to Java instances back around a fire: in that moment both would run it, or neither.
type nearFires struct {
	movesAt time.Time // when moves that were held back may be made; zero = none was
}

// HoldBackMoves implements [peers.Leaders].
func (s *java) HoldBackMoves(v room.View) func(from, to string) bool {
	s.nearFires = nearFires{}
	wait := aroundFire(v.Rules.Schedule, v.Clock.Now())
	if wait <= 0 {
		return nil
	}
	return func(from, to string) bool {
		if v.State.Instance(from).Created == 0 || !jobtree.JavaInstance(from) && !jobtree.JavaInstance(to) {
			return false
		}
		s.movesAt = time.Now().Add(wait)
		return true
	}
}

// MovesDue implements [peers.Leaders].
func (s *java) MovesDue() bool {
	if s.movesAt.IsZero() {
		return false
	}
	if wait := time.Until(s.movesAt); wait > 0 {
		s.ports.Wake(wait)
		return false
	}
	s.nearFires = nearFires{}
	return true
}

// aroundFire returns how long it takes until no fire is near; 0 if none is. Of a job that fires often, most
// of the time between two fires is left for moves.
func aroundFire(schedule cronexpr.Schedule, now time.Time) time.Duration {
	fire := cronexpr.Last(schedule, now.Add(-afterFire), now.Add(beforeFire))
	if fire.IsZero() {
		return 0
	}
	before := beforeFire
	if next := schedule.Next(fire); !next.IsZero() {
		before = min(before, next.Sub(fire)/10)
	}
	if fire.Sub(now) > before {
		return 0
	}
	return fire.Add(heldAfter(schedule, fire)).Sub(now)
}

// heldAfter returns for how long after a fire moves are held back.
func heldAfter(schedule cronexpr.Schedule, fire time.Time) time.Duration {
	if next := schedule.Next(fire); !next.IsZero() {
		return min(afterFire, next.Sub(fire)/3)
	}
	return afterFire
}

// Planned implements [peers.Leaders].
func (s *java) Planned(held []int) {
	if !slices.Equal(s.held, held) {
		s.held, s.lookAtRuns = held, true
		s.ports.DecideAgain() // what runs has been looked at before
	}
}
