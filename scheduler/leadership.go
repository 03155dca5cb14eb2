package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/leadership"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/sharding"
)

// leadershipPorts is what the room of the job's leader may ask beside.
type leadershipPorts struct{ ports }

var _ leadership.Ports = leadershipPorts{}

func (p leadershipPorts) Traits() peers.Traits { return p.runner().s.traits }

func (p leadershipPorts) Peers() peers.Peers { return p.runner().peers }

func (p leadershipPorts) Lookup(strategy string) (sharding.Strategy, error) {
	return p.runner().s.strategies.Lookup(strategy)
}

func (p leadershipPorts) Campaign(c *leadership.Candidacy) { p.runner().startElection(c) }

func (p leadershipPorts) Answered() { p.runner().peers.LookAtAssignment() }

func (p leadershipPorts) Reconcile() { p.Post(p.runner().reconcile) }

func (p leadershipPorts) Resharded(plan resharding.Plan) {
	r := p.runner()
	r.log.InfoContext(r.life, "resharded", "instances", plan.Instances, "items", plan.Total, "moved", plan.Moved)
	r.s.observer.observe(ReshardEvent{Job: r.name, Instances: plan.Instances, Items: plan.Total, Moved: plan.Moved})
}

// lead does a leader's work, if this instance is the leader, or tries to become it if there is none.
func (r *runner) lead() {
	if !r.state.KnowsAll() {
		return // who leads must know all items
	}
	if v := r.look(); r.leadership.DeclaresLost(v) {
		r.commit(r.lost.Decide(v, r.accountedFor))
	}
	if r.applied >= r.needed { // whose items crashed must be known before they have new owners
		r.commit(r.leadership.Decide(r.look()))
	}
	r.leadership.KeepReconciling(r.look())
}

// leads tells whether the leader node is this instance's, under the present session. One that has left blind leads no more,
// whatever was seen before.
func (r *runner) leads() bool { return !r.departure.leftBlind && r.look().Leads() }

// reconcile notes that everything is to be looked at, and removes what is there for no reason.
func (r *runner) reconcile() {
	batch, due := r.leadership.Reconcile(r.look())
	if due {
		r.lookAgain()
	}
	r.commit(batch)
	r.leadership.Reconciled()
}

// startElection starts an election in which this instance stands.
func (r *runner) startElection(c *leadership.Candidacy) {
	attached := r.attached
	r.s.work.Go(func() {
		revision, err := r.campaign(attached, c)
		r.box.Post(func() { r.elected(revision, err) })
	})
}

// campaign makes this instance the leader if there is none. It returns 0 and no error if
// another was faster.
func (r *runner) campaign(a *room.Attachment, c *leadership.Candidacy) (registry.Revision, error) {
	view := r.presentView()
	if c.HoldBack > 0 && r.othersElect(a, view, c.HoldBack) {
		return 0, nil
	}
	if c.Latch == "" {
		return r.together(a.Ctx, c.Txn)
	}
	var revision registry.Revision
	err := r.s.latched(a.Ctx, c.Latch, func(ctx context.Context) (err error) {
		if r.hasLeader(view.Snapshot()) {
			return nil
		}
		revision, err = r.s.registry.Commit(ctx, c.Txn)
		return err
	})
	return revision, err
}

// othersElect leaves the election to others for a while, and tells whether that gave the job a leader.
func (r *runner) othersElect(a *room.Attachment, view *registry.View, wait time.Duration) bool {
	ctx, cancel := context.WithTimeout(a.Ctx, wait)
	defer cancel()
	_, err := view.WaitFor(ctx, r.hasLeader)
	return err == nil
}

func (r *runner) hasLeader(s registry.Snapshot) bool { return s.Get(r.tree.Leader()).Exists() }

// electing is the step of an election.
const electing = "elect"

// tryDenied has everything tried again that was denied, as something has changed, also an election that waits for that.
func (r *runner) tryDenied() {
	r.denials.Clear()
	r.rested()
}

// seesElection has the next election tried again, as the leader has changed: what was denied is done by others now, or somebody
// has seen to it.
func (r *runner) seesElection() {
	r.denied().Answered(electing, r.tree.Leader(), nil)
	r.rested()
}

// rested lets the next election come after one that failed. It may come early, from the rest of an earlier one.
func (r *runner) rested() {
	if r.resting {
		r.resting = false
		r.leadership.Elected()
	}
}

// elected takes note of how an election ended. The view shows what it brought about.
func (r *runner) elected(revision registry.Revision, err error) {
	r.denied().Answered(electing, r.tree.Leader(), err)
	if err != nil && r.attached != nil && !errors.Is(err, registry.ErrConflict) {
		// Still electing: the decision that follows this message would ask again at once.
		r.refused(electing, err)
		rest := max(room.RetryAfter, r.denied().Held(electing, r.tree.Leader()))
		r.resting = true
		time.AfterFunc(rest, func() { r.box.Post(r.rested) })
		return
	}
	r.leadership.Elected()
	if err != nil && r.attached != nil {
		r.refused(electing, err)
		return
	}
	if revision != 0 {
		r.committed(revision)
	}
}
