package scheduler

import (
	"context"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/membership"
)

// newMembership makes the room of this process as an instance of the job.
func (r *runner) newMembership(p ports) *membership.Membership {
	_, isData := r.handler.(handlers)
	return membership.New(membership.Ports{
		Ports: p, Data: isData, Peers: r.peers,
		Get: func(ctx context.Context, path string) (registry.Node, error) { return r.s.registry.Get(ctx, path) },
		ComesBack: func() {
			r.rounds.Stale()
			r.rounds.Consider(nil, true)
			r.leadership.LookAgain()
		},
		StaysOut: func(off time.Duration) {
			r.rounds.ClockWrong(r.look(), off)
		},
		ShutDown: r.shutDownHere,
		Fail:     func(why error) { r.s.fail(why) },
	})
}

// takePart registers this process as an instance of the job, or takes it out because of its clock. It tells whether
// the instance takes part, as the state shows it.
func (r *runner) takePart() bool {
	r.membership.Observe(r.look())
	var parting membership.Parting
	away := r.membership.Away()
	if away {
		parting = r.parting()
	}
	r.commit(r.membership.Decide(r.look(), parting))
	if away || !r.look().Registered() {
		return false
	}
	r.lost.Joined(r.attached.Session.TTL())
	if !r.hasJoined() {
		r.announceJoined()
	}
	return true
}

// parting makes what leaving needs, if there is anything to leave.
func (r *runner) parting() membership.Parting {
	v := r.look()
	switch {
	case !v.Registered() && !v.Leads():
		return membership.Parting{}
	case r.mustStay():
		return membership.Parting{Stays: true}
	case !r.noteMissed():
		return membership.Parting{}
	}
	return membership.Parting{Ready: true, Marks: r.marks()}
}

func (r *runner) announceJoined() {
	r.joined.Happen()
	r.log.InfoContext(r.life, "joined")
	r.s.observer.observe(JoinEvent{Job: r.name})
}

func (r *runner) hasJoined() bool { return r.joined.Has() }
