package scheduler

import (
	"errors"
	"time"

	"github.com/elasticron/elasticron/internal/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
)

// gatherFor is how long a leader collects events before it reshards: a deployment changes many
// members within moments, and one resharding serves them all.
const gatherFor = 20 * time.Millisecond

// leadership is what a leader still has to look at.
type leadership struct {
	plan  bool          // members, settings or assignment changed since the last look
	since time.Time     // when the first of the changes not yet looked at came; zero = none waits
	lost  actor.Lookout // items whose executions may have been lost since the last look
	// noPlan is why the strategy gave no assignment, as it was reported; empty if it gives one.
	noPlan string
}

// note notes what of a step a leader has to look at, whoever leads: the next one may be this
// instance.
func (l *leadership) note(t jobtree.Touched) {
	l.plan = l.plan || t.Config || t.Servers || t.Instances || t.Leader || t.Necessary || t.Epoch || t.Owners
	l.lost.Note(t.Items, t.Instances || t.Leader)
}

// lead does a leader's work, if this instance is the leader, or tries to become it if there is none.
func (r *runner) lead() {
	switch {
	case !r.leads():
		r.elect()
		if r.s.java && r.state.LedByJava() {
			r.declareLost() // nobody else would
		}
	case !r.mayLead():
		r.abdicate()
	default:
		r.declareLost()
		if r.applied >= r.needed { // whose items crashed must be known before they have new owners
			r.reshard()
		}
	}
}

// leads tells whether the leader node is this instance's, under the present session.
func (r *runner) leads() bool {
	leader := r.state.Leader
	return leader.Created != 0 && leader.Session == r.attached.session.ID() && leader.Instance == r.s.instance
}

// term returns the guard that this instance still leads as the state shows it.
func (r *runner) term() registry.Condition {
	return registry.CreatedAt(r.tree.Leader(), r.state.Leader.Created)
}

// abdicate gives the leadership to somebody who can do its work.
func (r *runner) abdicate() {
	revision, err := r.s.registry.Commit(r.attached.ctx, registry.Txn{
		If:   []registry.Condition{r.term()},
		Then: []registry.Write{registry.Delete(r.tree.Leader())},
	})
	if err != nil {
		r.refused("abdicate", err)
		return
	}
	r.committed(revision)
	r.log.InfoContext(r.life, "resigned as leader: the server is disabled, or the job's settings cannot be used here")
}

// reshard makes the assignment the one that members and settings want, a moment after the first
// event that may have changed that. Need is derived: a request that got lost strands nobody.
func (r *runner) reshard() {
	l := &r.leadership
	l.plan = r.shared.movesAreDue() || l.plan
	if !l.plan {
		return
	}
	if l.since.IsZero() {
		l.since = time.Now()
	}
	if wait := gatherFor - time.Since(l.since); wait > 0 {
		r.alarm.Set(wait)
		return
	}
	l.plan, l.since = false, time.Time{}
	if r.tidy() {
		l.plan, l.since = true, time.Now().Add(-gatherFor) // at once when the state shows what came of it
		return
	}
	plan, err := r.plan()
	if errors.Is(err, errAsked) {
		return
	}
	if err != nil {
		if why := err.Error(); why != l.noPlan {
			l.noPlan = why
			r.log.ErrorContext(r.life, "items stay where they are: the sharding strategy gave no assignment", logError, err)
		}
		return
	}
	l.noPlan = ""
	r.shared.held = plan.Held > 0
	r.shared.movesAreDue() // sets the alarm
	if !plan.Needed {
		return
	}
	if err := r.commitPlan(plan); err != nil {
		l.plan = true
		r.refused("reshard", err)
		return
	}
	if plan.Moved == 0 {
		return
	}
	r.log.InfoContext(r.life, "resharded", "instances", plan.Instances, "items", plan.Total, "moved", plan.Moved)
	r.s.observer.observe(ReshardEvent{Job: r.name, Instances: plan.Instances, Items: plan.Total, Moved: plan.Moved})
}

// commitPlan commits the parts of a plan, if it has any, and then what puts them into force.
func (r *runner) commitPlan(plan resharding.Plan) error {
	for _, outcome := range r.s.registry.CommitAll(r.attached.ctx, plan.Parts) {
		if outcome.Err != nil {
			return outcome.Err
		}
		r.committed(outcome.Revision)
	}
	revision, err := r.s.registry.Commit(r.attached.ctx, plan.Txn)
	if err == nil {
		r.committed(revision)
	}
	return err
}

// tidy clears up what earlier reshardings left, and tells whether there was anything.
func (r *runner) tidy() bool {
	txns := resharding.Tidy(r.state, r.state.Leader.Created)
	for _, outcome := range r.s.registry.CommitAll(r.attached.ctx, txns) {
		if outcome.Err != nil {
			r.leadership.plan = true
			r.refused("tidy", outcome.Err)
			continue
		}
		r.committed(outcome.Revision)
	}
	return len(txns) > 0
}

func (r *runner) plan() (resharding.Plan, error) {
	strategy, err := r.strategyOf()
	if err != nil {
		return resharding.Plan{}, err
	}
	return resharding.PlanHolding(r.state, strategy, r.state.Leader.Created, r.shared.holdBackMoves())
}

// declareLost records what was running when its instance was lost, all of it in one request. It is
// looked for after every change and not on the event that somebody went, so it does not matter who
// was there to see that.
func (r *runner) declareLost() {
	var batch proposals
	for n := range r.leadership.lost.Take(r.state.Items()) {
		lost, wait := r.lost(n)
		switch {
		case wait:
			r.leadership.lost.Note([]int{n}, false)
		case lost:
			r.proposeLost(&batch, n)
		case r.leads() && failover.Crashed(r.state, n): // only a leader gives the item a new owner, which ends it
			r.proposeRequeue(&batch, n)
		}
	}
	r.commitAll(r.attached.ctx, "declare lost", batch)
}

// proposeLost proposes to record an item's execution as lost (T6).
func (r *runner) proposeLost(batch *proposals, n int) {
	txn, err := failover.Declare(r.state, n, r.s.now(), r.failoverLimit())
	if err != nil {
		r.log.ErrorContext(r.life, "cannot record a lost execution", logItem, n, logError, err)
		return
	}
	lost := r.state.Item(n).Record.Value.Current
	batch.add(txn, func(o registry.Outcome) {
		r.committed(o.Revision)
		r.log.WarnContext(r.life, "execution lost: its instance is gone",
			logItem, n, "lost_instance", lost.Instance, logFire, lost.Fire)
	})
}

// proposeRequeue proposes to run an item of a crashed instance again that was not running.
func (r *runner) proposeRequeue(batch *proposals, n int) {
	txn, err := failover.Requeue(r.state, n)
	if err != nil {
		r.log.ErrorContext(r.life, "cannot have an item run again", logItem, n, logError, err)
		return
	}
	batch.add(txn, func(o registry.Outcome) {
		r.committed(o.Revision)
		r.log.InfoContext(r.life, "item of a crashed instance is run again", logItem, n)
	})
}
