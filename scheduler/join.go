package scheduler

import (
	"time"

	"github.com/elasticron/elasticron/scheduler/internal/membership"
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
		r.commit(r.membership.RemoveFormer(v))
	case membership.Taken:
		r.awaitID()
	case membership.Absent:
		if !r.wasShutDown() && !r.refusedByPeers() && (r.settings.OK || r.state.Config.Revision != 0) {
			r.commit(r.membership.Join(v, r.peers))
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

// staysOut tells whether this instance takes no part because of its clock, and leaves if it still does.
func (r *runner) staysOut() bool {
	if !r.membership.MustLeave(r.look()) {
		return false
	}
	if (r.look().Registered() || r.leads()) && !r.runsUnmarked() && r.noteMissed() {
		r.commit(r.membership.LeaveForClock(r.look(), r.marks(), r.peers))
	}
	return true
}
