package scheduler

import (
	"context"
	"crypto/rand"
	"errors"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
	"github.com/elasticron/elasticron/scheduler/internal/rounds"
)

// begin begins what is due, by a clock that has just been judged.
func (r *runner) begin() {
	if v := r.look(); r.rounds.MayBegin(v) {
		r.membership.JudgeClock(v)
	}
	v := r.look()
	if round, batch := r.rounds.Decide(v); round != nil {
		r.commit(batch)
		r.rounds.Settled(v, round)
	}
}

// finish records the ends of what has run.
func (r *runner) finish() {
	if ending, batch := r.rounds.Executions().Decide(r.look()); ending != nil {
		r.commit(batch)
		r.rounds.Executions().Settled(ending)
	}
}

// hold keeps others from items that run here though the tree shows nothing of them any more.
func (r *runner) hold() {
	if r.attached != nil && r.applied >= r.needed {
		r.commit(r.rounds.Executions().Hold(r.look()))
	}
}

// newRounds makes the room of what this instance runs.
func (r *runner) newRounds(p ports) *rounds.Rounds {
	return rounds.New(rounds.Ports{
		Ports: p, Job: r.name, Others: r.s.traits, Peers: r.peers, Whole: r.whole, Admission: r.s.admission, Load: &r.s.load, Look: r.look,
		FireAhead:   func(item int, err error) { r.membership.FireAhead(item, err) },
		SetAside:    r.mending.SetAside,
		Lost:        r.lost.Is,
		DeclareLost: r.lost.Declare,
		InLatch:     r.inLatch,
		ClaimOver: func(item int, err error) {
			r.mending.Unexplained([]int{item}, false)
			if err != nil && r.attached != nil {
				r.refused("claim", err)
			}
		},
		EndRefused: r.endRefused,
		Overtaken:  r.overtaken,
	}, executions.Ports{
		Ports: p, Job: r.name, Now: r.s.now, Registry: r.s.registry, Others: r.s.traits,
		Report: &reporter{observer: r.s.observer, job: r.name, tally: &r.tally}, Failures: &r.failures, Listeners: r.declared.listeners,
		Before: func(ctx context.Context, listener func(context.Context) error) {
			r.s.listeners.Call(ctx, notify.Listener{Job: r.name, Kind: ListenerBeforeRun}, listener)
		},
		After: func(listener func(context.Context) error) {
			r.s.listeners.Call(r.s.curfew.Cut, notify.Listener{Job: r.name, Kind: ListenerAfterRun}, listener)
		},
		Overloaded: r.s.load.Over,
	})
}

// endRefused notes that the end of an execution was refused for good.
func (r *runner) endRefused(e *executions.Execution, why error) {
	if !e.Undo {
		r.mending.EndRefused(e.Item, e.Token)
	}
	r.lost.Note([]int{e.Item}, false)
	r.mending.Unexplained([]int{e.Item}, false) // its mark may be back, if its session was taken up again
	if !errors.Is(why, registry.ErrConflict) {
		r.departure.unsettle(e.Under.Session) // whose mark stays
	}
}

// noteMissed notes what is due of items that are not to run here. It tells whether nothing is left to be noted.
func (r *runner) noteMissed() bool {
	batch, over := r.rounds.Note(r.look(), r.departure.left)
	r.commit(batch)
	return over || !r.rounds.HasToNote()
}

// claimAbandoned claims lost executions of items that may be another's.
func (r *runner) claimAbandoned() {
	r.rounds.ClaimAbandoned(r.look(), func() string { return rand.Text()[:12] })
}
