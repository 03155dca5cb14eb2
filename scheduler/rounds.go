package scheduler

import (
	"crypto/rand"
	"errors"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
)

// begin begins what is due, by a clock that has just been judged.
func (r *runner) begin() {
	if v := r.look(); r.rounds.MayBegin(v) {
		r.membership.JudgeClock(v)
	}
	v := r.look()
	if round, batch := r.rounds.Decide(v); round != nil {
		r.commit(batch)
		r.rounds.Committed(v, round)
	}
}

// finish records the ends of what has run.
func (r *runner) finish() {
	if ending, batch := r.rounds.Executions().Decide(r.look()); ending != nil {
		r.commit(batch)
		r.rounds.Executions().Committed(ending)
	}
}

// hold keeps others from items that run here though the tree shows nothing of them any more.
func (r *runner) hold() {
	if r.attached != nil && r.applied >= r.needed {
		r.commit(r.rounds.Executions().Hold(r.look()))
	}
}

// endRefused notes that the end of an execution was refused for good.
func (r *runner) endRefused(e *executions.Execution, why error) {
	if !e.Undo {
		r.mending.EndRefused(e.Item, e.Token)
	}
	r.lost.LookAgain(e.Item)
	r.mending.LookAgain(e.Item) // its mark may be back, if its session was taken up again
	if !errors.Is(why, registry.ErrConflict) {
		r.departure.unsettled = e.Under.Session // whose mark stays
	}
}

// noteMissed notes what is due of items that are not to run here. It tells whether nothing is left to be noted.
func (r *runner) noteMissed() bool {
	batch, over := r.rounds.Note(r.look(), r.departure.left)
	r.commit(batch)
	return over || r.rounds.ToNote() == 0
}

// claimAbandoned claims lost executions of items that may be another's.
func (r *runner) claimAbandoned() {
	r.rounds.ClaimAbandoned(r.look(), func() string { return rand.Text()[:12] })
}
