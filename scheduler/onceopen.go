package scheduler

import (
	"github.com/elasticron/elasticron/internal/barrier"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// openBarriers adds to a round the transactions that open its barriers, if none is open: in the same
// request, ahead of the begins. Several instances do that at once, and the first one's set counts.
func (r *runner) openBarriers(round *round) {
	if r.once == nil || r.settings.config.Unmonitored || len(round.batch) == 0 {
		return
	}
	var opens room.Batch
	for _, g := range r.once.gatherings {
		for _, key := range round.keys() {
			if barrier.Opens(r.state, g.phase, key) {
				opens.Add(r.openTxn(g.phase, key))
				break // one at a time
			}
		}
	}
	for i := range opens {
		opens[i].Optional = true
	}
	round.batch = append(opens, round.batch...)
}

// noteKey notes which round of the whole job an execution is part of that is about to begin.
func (round *round) noteKey(record jobtree.Record) {
	if fire := record.Current.Fire; fire.IsZero() {
		round.trigger = max(round.trigger, record.Trigger)
	} else if fire.After(round.fire) {
		round.fire = fire
	}
}

func (round *round) keys() []jobtree.RoundKey {
	return []jobtree.RoundKey{{Fire: round.fire}, {Trigger: round.trigger}}
}

func (r *runner) openTxn(p jobtree.Phase, key jobtree.RoundKey) (registry.Txn, func(registry.Outcome)) {
	before := r.state.Barrier(p).Round.Value
	return barrier.Open(r.state, p, key, r.s.now()), func(o registry.Outcome) {
		r.committed(o.Revision)
		if before.Awaits() {
			r.reportBarrier(p, before.Settled(jobtree.BarrierReplaced, "", r.s.now()), nil)
		}
	}
}

// reopen opens a barrier for a round that is under way and could have none at its begin, because the
// hook of the one before had not ended. It is the leader's, so that one alone writes.
func (r *runner) reopen(g *gathering) {
	if !r.leads() {
		return
	}
	for _, key := range []jobtree.RoundKey{{Fire: r.once.fire}, {Trigger: r.once.trigger}} {
		if !barrier.Opens(r.state, g.phase, key) {
			continue
		}
		txn, done := r.openTxn(g.phase, key)
		revision, err := r.s.registry.Commit(r.attached.Ctx, txn)
		if err != nil {
			r.overtakenOr("open a barrier", err)
			return
		}
		done(registry.Outcome{Revision: revision})
		return
	}
}
