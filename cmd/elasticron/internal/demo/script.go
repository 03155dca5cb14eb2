package demo

import (
	"slices"
	"time"
)

// script decides what the demo does next: first the processes gather, after some rounds one is
// killed in the middle of a run, when its items have moved another joins, and after some more rounds
// it ends. It is told what is there, and decides; it does nothing itself.
type script struct {
	rounds int // at least
	keep   bool
	every  time.Duration

	phase  phase
	since  time.Time // the phase began
	goal   int       // rounds to be settled before the next phase; 0 = not known yet
	victim string    // instance id
	best   int       // rounds settled
	grown  time.Time // when that last grew
}

type phase uint8

const (
	gathering  phase = iota // until all processes share the items
	steady                  // some rounds
	aiming                  // until the victim runs an item
	recovering              // until its items have moved, and some rounds
	welcoming               // until the new process has items
	finishing               // some rounds
)

// String says what the phase waits for.
func (p phase) String() string {
	return [...]string{
		"the processes to share the items", "rounds", "a run to interrupt",
		"the items of the killed process to move", "items for the new process", "the last rounds",
	}[p]
}

// action is what the demo shall do.
type action uint8

const (
	wait       action = iota
	count             // rounds count from now on
	kill              // the victim
	join              // one more process
	invite            // whoever looks on to kill processes, if there is time
	finish            // the demo
	standstill        // give up: what the phase waits for does not come
)

const (
	pause    = 2                // rounds between one thing and the next
	patience = 30 * time.Second // for what should take seconds
)

// scene is what the script decides by.
type scene struct {
	now     time.Time
	picture picture
	members []string // instances of the processes that are meant to stay
	all     bool     // every such process has said hello
	rounds  int      // settled
	newest  int      // round that has any result
	started string   // the instance that has just started an item; empty = none
}

// next decides, and moves the script to its next phase.
func (s *script) next(sc scene) action {
	if s.since.IsZero() {
		s.since, s.grown = sc.now, sc.now
	}
	if sc.rounds > s.best {
		s.best, s.grown = sc.rounds, sc.now
	}
	if s.stands(sc) {
		return standstill
	}
	switch s.phase {
	case gathering:
		if sc.whole() {
			return s.enter(steady, sc, count, max(pause, s.rounds/4))
		}
	case steady:
		if sc.rounds >= s.goal {
			return s.enter(aiming, sc, wait, 0)
		}
	case aiming:
		return s.aim(sc)
	case recovering:
		return s.settle(sc)
	case welcoming:
		if sc.whole() {
			return s.enter(finishing, sc, invite, max(s.rounds, sc.newest+pause))
		}
	case finishing:
		if sc.rounds >= s.goal && !s.keep {
			return finish
		}
	}
	return wait
}

// aim kills whoever leads at the start of one of its runs, so that the run is lost too: or, if none
// is seen to start, anyhow.
func (s *script) aim(sc scene) action {
	s.victim = sc.leading()
	if s.victim != "" && (sc.started == s.victim || sc.now.Sub(s.since) > 3*s.every) {
		return s.enter(recovering, sc, kill, 0)
	}
	return wait
}

// settle waits until the others have the items and have done some rounds with them.
func (s *script) settle(sc scene) action {
	switch {
	case !sc.whole():
		s.goal = 0
	case s.goal == 0:
		s.goal = sc.newest + pause // those that waited for the items settle at once, and do not count
	case sc.rounds >= s.goal:
		return s.enter(welcoming, sc, join, 0)
	}
	return wait
}

func (s *script) enter(p phase, sc scene, a action, more int) action {
	s.phase, s.since, s.goal = p, sc.now, more
	if p == steady {
		s.grown = sc.now
	}
	return a
}

// stands tells whether nothing has moved for too long: a phase that should take seconds does not
// end, or rounds do not settle.
func (s *script) stands(sc scene) bool {
	limit := patience + 5*s.every
	switch s.phase {
	case steady, finishing:
		return sc.now.Sub(s.grown) > limit
	default:
		return sc.now.Sub(s.since) > limit
	}
}

// whole tells whether those who should share the items do.
func (sc scene) whole() bool { return sc.all && sc.picture.complete(sc.members) }

// leading returns the leader if it is one of ours and holds items, and else anyone of ours who does.
func (sc scene) leading() string {
	candidates := append([]string{sc.picture.leader}, sc.members...)
	for _, id := range candidates {
		if slices.Contains(sc.members, id) && len(sc.picture.held(id)) > 0 {
			return id
		}
	}
	return ""
}
