package leadership

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// due tells whether the assignment is to be looked at now, a moment after the first event that may have changed
// which one members and settings want; at once if the owner of an item has gone, as nobody runs it meanwhile, and that
// was not so a moment ago. Need is derived: a request that got lost strands nobody.
func (l *Leadership) due(v room.View) bool {
	over, in := l.probation.due()
	l.plan = l.ports.Peers().MovesDue() || over || l.plan
	if in > 0 {
		l.ports.Wake(in)
	}
	if !l.plan {
		return false
	}
	if l.since.IsZero() {
		l.since = time.Now()
	}
	wait := gatherFor - time.Since(l.since)
	if wait > 0 && forsaken(v.State) {
		// Of many that leave together, all but the first are gathered.
		if wait = min(wait, gatherFor-time.Since(l.hurried)); wait <= 0 {
			l.hurried = time.Now()
		}
	}
	if wait > 0 {
		l.ports.Wake(wait)
		return false
	}
	l.plan, l.since = false, time.Time{}
	return true
}

// forsaken tells whether an item belongs to an instance that is gone, or is about to leave. One that never had an owner
// does not count: when a job starts, its instances come one after the other. Nor does a Java instance, which deletes its
// node and makes it anew when it reconnects.
func forsaken(s *jobtree.State) bool {
	checked := ""
	for item := range s.Total() {
		owner := s.Owner(item)
		if owner == checked || owner == "" || s.SharedWithJava() && jobtree.JavaInstance(owner) {
			continue
		}
		checked = owner
		if instance := s.Instance(owner); instance.Created == 0 || instance.Shutdown {
			return true
		}
	}
	return false
}

// tidy proposes to clear up what earlier reshardings left. If there is anything, the assignment is looked at when
// the state shows the outcome.
func (l *Leadership) tidy(v room.View) room.Batch {
	var batch room.Batch
	for _, txn := range inTurn(resharding.Tidy(v.State, v.State.Leader.Created)) {
		batch = append(batch, room.Proposal{Step: "tidy", Txn: txn, Insist: true})
	}
	if batch != nil {
		l.plan, l.since = true, time.Now().Add(-gatherFor)
	}
	return batch
}

// few is how many transactions of one job go before all begins of others: those of some two hundred items.
const few = 8

// inTurn has what is more than few take turns with what other jobs begin: for ten thousands of items it is thousands.
func inTurn(txns []registry.Txn) []registry.Txn {
	if len(txns) > few {
		for i := range txns {
			txns[i].Turn.Rank = registry.RankWork
		}
	}
	return txns
}

// reshard proposes to make the assignment the one that members and settings want.
func (l *Leadership) reshard(v room.View) room.Batch {
	plan, err := l.planOf(v)
	if protect.Is(err, peers.ErrAsked) {
		return nil
	}
	if err != nil {
		if why := err.Error(); why != l.noPlan {
			l.noPlan = why
			l.ports.Log().ErrorContext(l.ports.Life(), "items stay where they are: the sharding strategy gave no assignment", room.KeyError, err)
		}
		// Else nothing would begin that still belongs to somebody, until a strategy is right that the change of the count has
		// nothing to do with.
		return l.put(resharding.PlanCounting(v.State, v.State.Leader.Created))
	}
	l.noPlan = ""
	l.ports.Peers().Planned(plan.Held)
	l.static.planned(len(plan.Held)+plan.Moved > 0)
	if l.ports.Peers().MovesDue() { // else it makes the runner decide again by then
		l.plan = true
		l.ports.Wake(gatherFor)
	}
	return l.put(plan)
}

// put proposes to put a plan into force.
func (l *Leadership) put(plan resharding.Plan) room.Batch {
	if !plan.Needed {
		return nil
	}
	return room.Batch{{
		Step: "reshard", Alone: true, Crowds: true, Parts: inTurn(plan.Parts), Txn: plan.Txn,
		Done: func(registry.Outcome) {
			if plan.Moved > 0 {
				l.ports.Resharded(plan)
			}
		},
		Refused: func(error) bool { l.plan = true; return false },
	}}
}

func (l *Leadership) planOf(v room.View) (resharding.Plan, error) {
	if l.static.stays(v) {
		return resharding.PlanStaying(v.State, v.State.Leader.Created), nil
	}
	strategy, err := l.Strategy(v)
	if err != nil {
		return resharding.Plan{}, err
	}
	without := l.probation.without(v)
	if _, in := l.probation.due(); in > 0 {
		l.ports.Wake(in)
	}
	for _, server := range l.probation.untold(v, without) {
		l.ports.Log().WarnContext(l.ports.Life(), "instances of a server die soon after they have joined: new ones get no items for a while", "server", server)
	}
	return resharding.PlanHolding(v.State, strategy, v.State.Leader.Created, without, l.ports.Peers().HoldBackMoves(v))
}
