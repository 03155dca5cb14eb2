package scheduler

import (
	"context"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/membership"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
)

// membershipPorts is what the room of this process as an instance of the job may ask beside.
type membershipPorts struct{ ports }

var _ membership.Ports = membershipPorts{}

func (p membershipPorts) Data() bool {
	_, is := p.runner().handler.(handlers)
	return is
}

func (p membershipPorts) Peers() peers.Peers { return p.runner().peers }

func (p membershipPorts) Get(ctx context.Context, path string) (registry.Node, error) {
	return p.runner().s.registry.Get(ctx, path)
}

func (p membershipPorts) ComesBack() {
	r := p.runner()
	r.rounds.Stale()
	r.rounds.LookAgainAtAll()
	r.leadership.LookAgain()
}

func (p membershipPorts) StaysOut(off time.Duration) {
	r := p.runner()
	r.rounds.ClockWrong(r.look(), off)
}

func (p membershipPorts) Refusal() string { return p.runner().configuration.Refusal() }

func (p membershipPorts) ShutDown() { p.runner().shutDownHere() }

func (p membershipPorts) Fail(why error) { p.runner().s.fail(why) }

// takePart registers this process as an instance of the job, or takes it out because of its clock or because it refuses
// the configuration. It tells whether the instance takes part, as the state shows it.
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
	if !r.joined {
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
	r.joined = true
	r.joinedOrGone.Happen()
	r.log.InfoContext(r.life, "joined")
	r.s.observer.observe(JoinEvent{Job: r.name})
}
