package scheduler

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/barrier"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
)

// once is what a runner knows of the barriers of a job with a [job.OnceListener]; other jobs have none.
// Everything follows from the job's tree: nobody asks anybody, and nobody looks at intervals.
type once struct {
	gatherings []*gathering
	waiting    map[*execution]struct{} // that begun and whose code waits for the started hook
	fire       time.Time               // the newest fire that was seen to run
	trigger    registry.Revision       // the newest request by hand that was
}

// gathering is one phase's barrier.
type gathering struct {
	phase  jobtree.Phase
	hook   func(context.Context, job.WholeRound) error
	within time.Duration

	noted    actor.Lookout    // items to be looked at
	key      jobtree.RoundKey // that the barrier was seen to stand for
	missing  map[int]struct{} // awaited items that did not arrive; nil if they are not counted
	deadline *time.Timer
	late     bool
	run      *hookRun // that this process has taken and not settled; nil = none
}

func newOnce(l *job.OnceListener) *once {
	if l == nil {
		return nil
	}
	o := &once{waiting: make(map[*execution]struct{})}
	if l.AllStarted != nil {
		o.gatherings = append(o.gatherings, &gathering{phase: jobtree.PhaseStarted, hook: l.AllStarted, within: l.StartedWithin})
	}
	if l.AllCompleted != nil {
		o.gatherings = append(o.gatherings, &gathering{phase: jobtree.PhaseCompleted, hook: l.AllCompleted, within: l.CompletedWithin})
	}
	return o
}

// noteArrivals notes what of a step the barriers have to look at.
func (r *runner) noteArrivals(t jobtree.Touched) {
	o := r.once
	if o == nil {
		return
	}
	for _, n := range t.Items {
		o.see(r.state.Item(n).Record.Value, r.s.clock.Horizon())
	}
	for _, g := range o.gatherings {
		g.noted.Note(t.Items, t.Config || t.Epoch)
	}
}

// see notes which rounds are under way.
func (o *once) see(record jobtree.Record, horizon time.Time) {
	if record.State != jobtree.ItemRunning || record.FireAhead(horizon) {
		return
	}
	if fire := record.Current.Fire; fire.IsZero() {
		o.trigger = max(o.trigger, record.Trigger)
	} else if fire.After(o.fire) {
		o.fire = fire
	}
}

// mindBarriers does what the barriers ask of this instance now.
func (r *runner) mindBarriers() {
	if r.once == nil {
		return
	}
	for _, g := range r.once.gatherings {
		r.settleHook(g)
		if r.attached.Connected() && r.applied >= r.needed && r.settings.ok && r.settings.config.Monitored() {
			r.mind(g)
		}
	}
	r.releaseWaiting()
}

// mind takes the step that one barrier is ready for.
func (r *runner) mind(g *gathering) {
	b := r.state.Barrier(g.phase)
	r.follow(g, b.Round.Value)
	orphaned := b.Hook.Value == r.s.instance && b.Hook.Session == r.attached.Session.ID() &&
		(g.run == nil || g.run.token != b.Hook.Created)
	switch {
	case orphaned:
		r.settleBarrier(g, barrier.Disown(r.state, g.phase, r.s.now()), jobtree.BarrierLost)
	case barrier.Lost(r.state, g.phase):
		r.settleBarrier(g, barrier.DeclareLost(r.state, g.phase, r.s.now()), jobtree.BarrierLost)
	case r.leaving:
		// What is left to be done is for those who stay.
	case !b.Round.Value.Awaits():
		r.reopen(g)
	case len(g.missing) == 0 && barrier.FallsTo(r.state, g.phase, r.s.instance):
		r.takeHook(g)
	case g.late:
		r.settleBarrier(g, barrier.Expire(r.state, g.phase, r.s.now()), jobtree.BarrierTimeout)
	}
}

// follow keeps count of the items that a barrier still awaits, at a cost that depends on what changed.
func (r *runner) follow(g *gathering, b jobtree.Barrier) {
	all, items := g.noted.TakeNoted()
	if !sameRound(g.key, b.Key()) {
		g.key = b.Key()
		r.setDeadline(g, b)
		all = true
	}
	if !b.Awaits() {
		g.missing = nil
		return
	}
	horizon := r.s.clock.Horizon()
	check := func(n int) {
		if barrier.Missing(r.state, g.phase, n, horizon) {
			g.missing[n] = struct{}{}
		} else {
			delete(g.missing, n)
		}
	}
	if all || g.missing == nil {
		g.missing = make(map[int]struct{})
		for _, n := range b.Items {
			check(n)
		}
		return
	}
	for n := range items {
		if _, awaited := slices.BinarySearch(b.Items, n); awaited {
			check(n)
		}
	}
}

// setDeadline has a barrier looked at when its time is over, counted from when it is first seen, as
// clocks differ. The instances come one after the other, so that as a rule one alone writes.
func (r *runner) setDeadline(g *gathering, b jobtree.Barrier) {
	g.late = false
	if g.deadline != nil {
		g.deadline.Stop()
	}
	if !b.Awaits() {
		return
	}
	key := g.key
	holdBack := time.Duration(max(0, min(r.rank(), candidateSteps))) * candidateStep
	g.deadline = time.AfterFunc(g.within+holdBack, func() {
		r.box.Post(func() { g.late = sameRound(g.key, key) })
	})
}

// settleBarrier settles a barrier whose hook ends nowhere, and reports that.
func (r *runner) settleBarrier(g *gathering, txn registry.Txn, outcome jobtree.BarrierOutcome) {
	b := r.state.Barrier(g.phase).Round.Value
	revision, err := r.s.registry.Commit(r.attached.Ctx, txn)
	if err != nil {
		r.overtakenOr("settle a barrier", err)
		return
	}
	r.committed(revision)
	r.reportBarrier(g.phase, b.Settled(outcome, "", r.s.now()), nil)
}

// overtakenOr is [runner.refused] for transactions that are about a barrier alone: a conflict is no
// reason to look at all items again.
func (r *runner) overtakenOr(step string, err error) {
	var conflict *registry.ConflictError
	if errors.As(err, &conflict) {
		r.overtaken(conflict)
		return
	}
	r.refused(step, err)
}

// stopOnce stops the timers. It is for the end, when the runner does nothing any more.
func (r *runner) stopOnce() {
	if r.once == nil {
		return
	}
	for _, g := range r.once.gatherings {
		if g.deadline != nil {
			g.deadline.Stop()
		}
	}
}
