package scheduler

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/admission"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/load"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/room"
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
	if !errors.Is(why, registry.ErrConflict) && e.Monitored() {
		r.departure.settle(r.showsGone) // of those before, or there would be one more of each that is refused
		r.departure.note(unsettled{session: e.Under.Session.ID(), kind: keptMark, mark: executions.Mark(r.tree, e.Item, e.Token)})
	}
}

// noteMissed notes what is due of items that are not to run here. It tells whether nothing is left to be noted.
func (r *runner) noteMissed() bool {
	batch, over := r.rounds.Note(r.look(), r.departure.left, true)
	r.commit(batch)
	return over || r.rounds.Missed().ToNote() == 0
}

// accountedFor returns the token of an item's execution that is not to be declared lost: it runs here, or Java has run it
// again. It is 0 if there is none.
func (r *runner) accountedFor(item int) registry.Revision {
	return cmp.Or(r.rounds.RunningHere(item), r.takenByJava(item))
}

// takenByJava returns the token of an item's execution that Java has run again; 0 = none.
func (r *runner) takenByJava(item int) registry.Revision {
	if !r.peers.Taken(r.look(), item) {
		return 0
	}
	record := r.state.Record(item)
	return record.Value.Token(record.Revision)
}

// claimAbandoned claims lost executions of items that may be another's.
func (r *runner) claimAbandoned() {
	r.rounds.ClaimAbandoned(r.look())
}

// roundsPorts is what the room of what this instance runs may ask beside.
type roundsPorts struct{ ports }

var _ rounds.Ports = roundsPorts{}

func (p roundsPorts) Job() string { return p.runner().name }

func (p roundsPorts) Now() time.Time { return p.runner().s.now() }

func (p roundsPorts) Registry() executions.Registry { return p.runner().s.registry }

func (p roundsPorts) Report() executions.Reporter { return reporter{p.runner()} }

func (p roundsPorts) Traits() peers.Traits { return p.runner().s.traits }

func (p roundsPorts) Failures() *notify.Failures { return &p.runner().failures }

func (p roundsPorts) Listeners() []job.Listener { return p.runner().declared.listeners }

func (p roundsPorts) Before(ctx context.Context, listener func(context.Context) error) {
	r := p.runner()
	r.s.listeners.Call(ctx, notify.Listener{Job: r.name, Kind: ListenerBeforeRun}, listener)
}

func (p roundsPorts) After(listener func(context.Context) error) {
	r := p.runner()
	r.s.listeners.Call(r.s.curfew.Cut, notify.Listener{Job: r.name, Kind: ListenerAfterRun}, listener)
}

func (p roundsPorts) Overloaded() bool { return p.runner().s.load.Over() }

func (p roundsPorts) Peers() peers.Peers { return p.runner().peers }

func (p roundsPorts) Hooks() rounds.Hooks { return p.runner().hooks }

func (p roundsPorts) Admission() *admission.Admission { return p.runner().s.admission }

func (p roundsPorts) Load() *load.Load { return &p.runner().s.load }

func (p roundsPorts) Look() room.View { return p.runner().look() }

func (p roundsPorts) ToldEarly() bool { return p.runner().s.timetable.ToldEarly(p.runner().entry) }

func (p roundsPorts) SetHeadStart(d time.Duration) {
	r := p.runner()
	if d = min(d, r.s.headStart); r.entry.HeadStart() != d {
		r.s.timetable.SetHeadStart(r.entry, d)
	}
}

func (p roundsPorts) Await(revision registry.Revision) { p.runner().await(revision) }

func (p roundsPorts) FireAhead(fire time.Time) { p.runner().membership.FireAhead(fire) }

func (p roundsPorts) SetAside(v room.View, node jobtree.Item, now time.Time) room.Batch {
	return p.runner().mending.SetAside(v, node, now)
}

func (p roundsPorts) Lost(v room.View, item int, here registry.Revision) (lost, wait bool) {
	return p.runner().lost.Is(v, item, cmp.Or(here, p.runner().takenByJava(item)))
}

func (p roundsPorts) DeclareLost(v room.View, item int) room.Batch {
	return p.runner().lost.Declare(v, item)
}

func (p roundsPorts) InLatch(latch string, under *room.Attachment, txn registry.Txn, settled func(registry.Revision, error)) {
	p.runner().inLatch(latch, under, txn, settled)
}

func (p roundsPorts) Held(step, path string) time.Duration {
	return p.runner().denied().Held(step, path)
}

func (p roundsPorts) ClaimOver(item int, path string, err error) {
	r := p.runner()
	r.denied().Answered(rounds.Claiming, path, err)
	r.mending.LookAgain(item)
	if err != nil && r.attached != nil {
		r.refused(rounds.Claiming, err)
	}
}

func (p roundsPorts) EndRefused(e *executions.Execution, why error) { p.runner().endRefused(e, why) }

func (p roundsPorts) Overtaken(conflict *registry.ConflictError) { p.runner().overtaken(conflict) }
