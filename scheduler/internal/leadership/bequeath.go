package leadership

import (
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// mostBequests is how often a leader tries to leave with a resharding. Where members keep changing meanwhile, such as
// when all stop together, it goes without.
const mostBequests = 2

// Bequeath makes a proposal to leave, of the leader, one that also gives its items to the others, where
// [resharding.PlanLeave] finds that possible. Otherwise the items wait until another leader is elected. Lost executions
// must have been declared before.
func (l *Leadership) Bequeath(v room.View, leave *room.Proposal) {
	if !v.Leads() || !v.Registered() || !l.mayLead(v) || l.bequests >= mostBequests {
		return
	}
	strategy, err := l.ports.Lookup(v.Config.ShardingStrategy)
	if err != nil || !immediate(strategy) {
		return // nobody waits for the application's code to leave
	}
	without, _ := l.probation.leftOut(v)
	plan, ok, err := resharding.PlanLeave(v.State, strategy, v.State.Leader.Created, v.Instance, without, leave.Txn)
	if err != nil || !ok {
		return
	}
	l.bequests++
	leave.Txn = plan.Txn
	left := leave.Done
	leave.Done = func(o registry.Outcome) {
		left(o)
		if plan.Moved > 0 {
			l.ports.Resharded(plan)
		}
	}
	leave.Refused = func(err error) bool {
		if !room.Hopeless(err) {
			return false
		}
		l.bequests = mostBequests
		l.ports.DecideAgain() // to leave without it
		return true
	}
}
