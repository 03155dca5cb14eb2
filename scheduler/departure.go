package scheduler

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
	"github.com/elasticron/elasticron/scheduler/internal/handover"
)

// departure is how a runner leaves its job: why, how far it has come, and what may stay behind. Anybody may ask for
// its events, and wait for them; the rest is the runner's alone.
type departure struct {
	leaving   bool        // it hands over, and starts nothing
	left      bool        // it has handed over: the tree has nothing of this runner's any more but the marks of what runs
	leftBlind bool        // the job was left without a view, as far as possible, and none has shown that yet
	shutDown  bool        // an operator has shut the job down here
	farewell  *farewell   // nil before there is anything to it
	unsettled *doubts     // what may stay in the tree, or come, though this runner has left; nil = nothing
	drained   actor.Event // left, and nothing runs
	gone      actor.Event // the scheduler, which goes on, has the job no more; noted by who takes it off the list
}

// farewell is what there is to remember of a departure that is under way. It is apart from it because there may be
// thousands of jobs, and most are not being left.
type farewell struct {
	whenLeft func()         // is called when nothing of the job runs any more, because this job alone is left
	turn     handover.Turn  // to hand over
	heard    bool           // that it is the job's turn
	parts    handover.Parts // in which notes are made
	noting   time.Duration  // for how long the registry was taking notes
	hushed   bool           // it tells no more what others' items missed
}

// bid returns the farewell, from now on.
func (d *departure) bid() *farewell {
	if d.farewell == nil {
		d.farewell = &farewell{}
	}
	return d.farewell
}

// whenLeft is explained at [farewell]; nil if the job is not left alone.
func (d *departure) whenLeft() func() {
	if d.farewell == nil {
		return nil
	}
	return d.farewell.whenLeft
}

// turn returns the turn to hand over; nil before the job is left.
func (d *departure) turn() *handover.Turn {
	if d.farewell == nil {
		return nil
	}
	return &d.farewell.turn
}

// shut begins it, because an operator shuts the job down here.
func (d *departure) shut() { d.leaving, d.shutDown = true, true }

// retire begins it, because this job alone is to be left. left is called when it is. retire tells whether it was the
// first to ask for that.
func (d *departure) retire(left func()) (first bool) {
	if d.whenLeft() != nil {
		return false
	}
	d.leaving, d.bid().whenLeft = true, left
	return true
}

// alone tells whether the scheduler goes on without the job. stops tells that it stops by now.
func (d *departure) alone(stops bool) bool { return (d.whenLeft() != nil || d.shutDown) && !stops }

// doubts are apart from the departure for the same reason as the farewell.
type doubts []unsettled

// unsettled is something that may stand in the tree under a session, or come to, though this runner has left: it cannot take
// that back. It matters for as long as the registry keeps the session, and as there is no other one: no session is taken up
// again that another has followed.
type unsettled struct {
	session registry.SessionID
	kind    unsettledKind
	mark    registry.Condition // of a mark that stays: that it still stands
	since   time.Time          // of a commit: when the registry gave the session back; zero = not yet
}

// unsettledKind is what settles it.
type unsettledKind int

const (
	unseenTree unsettledKind = iota // the tree can be neither followed nor left: nothing does
	keptMark                        // the registry refused the end of an execution: that its mark is gone
	lateCommit                      // nobody will know what becomes of a commit: that it has been late for too long
)

// note adds what is not settled, once.
func (d *departure) note(u unsettled) {
	if d.unsettled == nil {
		d.unsettled = new(doubts)
	}
	if all := d.unsettled; !slices.Contains(*all, u) {
		*all = append(*all, u)
	}
}

// settle forgets marks that the tree has shown to be gone for certain: none comes back under its token.
func (d *departure) settle(gone func(registry.Condition) bool) {
	d.keep(func(u unsettled) bool { return u.kind != keptMark || !gone(u.mark) })
}

// keep forgets what is not to be kept.
func (d *departure) keep(which func(unsettled) bool) {
	if d.unsettled == nil {
		return
	}
	*d.unsettled = slices.DeleteFunc(*d.unsettled, func(u unsettled) bool { return !which(u) })
	if len(*d.unsettled) == 0 {
		d.unsettled = nil
	}
}

// attached takes in that the registry has a session: one that was lost and that it gave back, or another one.
func (d *departure) attached(session registry.SessionID) {
	d.keep(func(u unsettled) bool { return u.session == session })
	if d.unsettled == nil {
		return
	}
	for i, u := range *d.unsettled {
		if u.since.IsZero() {
			(*d.unsettled)[i].since = time.Now()
		}
	}
}

// leftUnsettled tells whether something may stay in the tree under a session, or one that is the same to the registry. gone
// tells whether the tree has shown for certain that a condition does not hold any more.
func (d *departure) leftUnsettled(session registry.SessionID, gone func(registry.Condition) bool) bool {
	return d.unsettled != nil && slices.ContainsFunc(*d.unsettled, func(u unsettled) bool {
		switch {
		case u.session != session:
			return false
		case u.kind == keptMark:
			return !gone(u.mark)
		case u.kind == lateCommit: // by then the tree has shown what it brought, and it was taken away with all else
			return u.since.IsZero() || time.Since(u.since) < leftFollowed
		default:
			return true
		}
	})
}
