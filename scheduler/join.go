package scheduler

import (
	"errors"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/membership"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// newMembership makes the room of this process as an instance of the job.
func (r *runner) newMembership() *membership.Membership {
	return membership.New(membership.Ports{
		Ports: r.ports,
		ComesBack: func() {
			r.rounds.Stale()
			r.rounds.Consider(nil, true)
			r.leadership.LookAgain()
		},
		StaysOut: func(off time.Duration) {
			r.rounds.ClockWrong(r.look(), off)
		},
	})
}

// join registers this process as an instance of the job. It tells whether the state shows the instance.
func (r *runner) join() bool {
	v := r.look()
	switch r.membership.Standing(v) {
	case membership.Registered:
		r.peers.Joined(v)
		r.lost.Joined(r.attached.Session.TTL())
		if r.membership.Joined(v) {
			r.announceJoined()
		}
		return true
	case membership.Former:
		r.carryOut(r.membership.RemoveFormer(v))
	case membership.Taken:
		r.awaitID()
	case membership.Absent:
		if !r.wasShutDown() && !r.refusedByPeers() && (r.settings.OK || r.state.Config.Revision != 0) {
			r.carryOut(r.membership.Join(v, r.peers))
		}
	}
	return false
}

// awaitID waits for a node of our id that another session owns.
func (r *runner) awaitID() {
	v := r.look()
	if !r.membership.AwaitID(v) {
		return
	}
	if err := r.membership.Held(v, r.stillHeld()); err != nil && !r.hasJoined() {
		r.s.fail(err)
	}
}

// stillHeld asks the registry itself whether another session holds our id: the state may lag behind. Without
// an answer, it says no.
func (r *runner) stillHeld() bool {
	node, err := r.s.registry.Get(r.attached.Ctx, r.tree.Instance(r.s.instance))
	return err == nil && node.Session == r.state.Instance(r.s.instance).Session
}

func (r *runner) announceJoined() {
	close(r.joined)
	r.log.InfoContext(r.life, "joined")
	r.s.observer.observe(JoinEvent{Job: r.name})
}

func (r *runner) hasJoined() bool {
	select {
	case <-r.joined:
		return true
	default:
		return false
	}
}

// serverEnabled tells whether this server may take part.
func (r *runner) serverEnabled() bool { return r.state.Enabled(r.s.instance) }

// staysOut tells whether this instance takes no part because of its clock, and leaves if it still does.
func (r *runner) staysOut() bool {
	if !r.membership.MustLeave(r.look()) {
		return false
	}
	if (r.look().Registered() || r.leads()) && !r.runsUnmarked() && r.noteMissed() {
		r.carryOut(r.membership.LeaveForClock(r.look(), r.marks(), r.peers))
	}
	return true
}

// refused deals with a transaction that was not done: after a conflict the decision is made again
// on the state that it conflicted with, after a lost session by its successor, and otherwise later.
func (r *runner) refused(what string, err error) {
	r.lookAgain()
	if r.blind.since != nil {
		r.refusedBlind(err)
	}
	var conflict *registry.ConflictError
	switch {
	case errors.As(err, &conflict):
		r.log.DebugContext(r.life, "decided on an old state, deciding again", "step", what, logReason, err.Error())
		r.overtaken(conflict)
	case r.attached.Ctx.Err() != nil || errors.Is(err, registry.ErrSessionLost):
		r.log.DebugContext(r.life, "session ended under a commit", "step", what, logReason, err.Error())
		if errors.Is(err, registry.ErrUnknownOutcome) {
			r.unsettled = r.attached.Session
		}
	default:
		r.s.repeated(slog.LevelWarn, commitRefused, r.name, err, "step", what)
		r.alarm.Set(room.RetryAfter)
	}
}

// lookAgain marks everything to be looked at once more: what was refused had already been ticked off.
func (r *runner) lookAgain() {
	r.leadership.LookAgain()
	r.lost.Note(nil, true)
	r.mending.Unexplained(nil, true)
	r.rounds.Consider(nil, true)
	r.peers.LookAgain()
}
