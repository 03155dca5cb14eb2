package rounds

import (
	"time"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// beginUnmonitored runs what is due of a job that leaves no marks. recorded is the newest request by hand that it ran for
// while it left some.
func (r *Rounds) beginUnmonitored(v room.View, round *Round, it *item, recorded registry.Revision) {
	current := jobtree.Execution{Begin: round.now, Round: round.id}
	request, asked := round.request.For(it.number, max(recorded, it.triggered))
	switch {
	case it.fireGoes(v, asked) && !round.refuse && !r.notYet(v, it, round.now):
		it.fireGone(asked)
		current.Fire, current.Source = it.Due.Next()
		it.Due = it.Due.After(current.Fire)
	case !asked:
		it.first = asUsual
		return
	default:
		it.requestGone()
		current.Source, current.Trigger = job.Manual, request.Revision
		current.Fire, current.Parameter = request.Fire, request.Parameter
		it.triggered = request.Revision
	}
	it.running = r.newExecution(v, it, v.Attached, jobtree.Record{Current: &current}, 0)
	round.begun = append(round.begun, it.running)
}

// giveUpMoot proposes that an item does not wait any more for a lost execution to be run again, as nothing that runs is
// recorded: when that is changed back, perhaps after weeks, it would be run again.
func (r *Rounds) giveUpMoot(v room.View, round *Round, n int) {
	if !failover.Moot(v.State, n) {
		return
	}
	txn, err := failover.GiveUp(v.State, n)
	if err != nil {
		r.ports.Log().ErrorContext(r.ports.Life(), "cannot give up a lost execution", room.KeyItem, n, room.KeyError, err)
		return
	}
	var fire time.Time
	if owed := v.State.Record(n).Value.Owed(); owed != nil {
		fire = owed.Fire
	}
	round.batch = append(round.batch, room.Proposal{Step: "give up", Txn: txn, Done: func(registry.Outcome) {
		r.ports.Log().WarnContext(r.ports.Life(), "a lost execution is not run again: the job does not record its executions any more",
			room.KeyItem, n, room.KeyFire, room.FireOf(fire))
	}})
}
