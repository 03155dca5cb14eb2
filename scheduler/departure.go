package scheduler

import (
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
	"github.com/elasticron/elasticron/scheduler/internal/handover"
)

// departure is how a runner leaves its job: why, how far it has come, and what may stay behind. Anybody may ask for
// its events, and wait for them; the rest is the runner's alone.
type departure struct {
	leaving   bool              // it hands over, and starts nothing
	left      bool              // it has handed over: the tree has nothing of this runner's any more but the marks of what runs
	shutDown  bool              // an operator has shut the job down here
	farewell  *farewell         // nil before there is anything to it
	unsettled *registry.Session // under which something may stay in the tree that this runner cannot take back; nil = none
	drained   actor.Event       // left, and nothing runs
	gone      actor.Event       // the scheduler, which goes on, has the job no more; noted by who takes it off the list
}

// farewell is what there is to remember of a departure that is under way. It is apart from it because there may be
// thousands of jobs, and most are not being left.
type farewell struct {
	whenLeft func()         // is called when nothing of the job runs any more, because this job alone is left
	turn     handover.Turn  // to hand over
	heard    bool           // that it is the job's turn
	parts    handover.Parts // in which notes are made
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

// leftUnsettled tells whether something may stay in the tree under a session, or one that is the same to the
// registry.
func (d *departure) leftUnsettled(session *registry.Session) bool {
	return d.unsettled != nil && d.unsettled.ID() == session.ID()
}
