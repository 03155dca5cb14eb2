package wholeround

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/barrier"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Ports are what the room may ask of the process.
type Ports struct {
	room.Ports
	// Call calls a hook and waits for it, at most for the limit; 0 is that of all listeners. It tells why it
	// failed.
	Call func(ctx context.Context, limit time.Duration, hook func(context.Context) error) error
	// BarrierSettled hears how a barrier was settled by this process, and of the error of its hook.
	BarrierSettled func(phase jobtree.Phase, settled jobtree.Barrier, hook error)
}

// Rounds is what an instance knows of the whole rounds of a job. A nil Rounds is that of a job without hooks.
type Rounds struct {
	ports    Ports
	listener job.WholeRoundListener
	barriers []*phaseBarrier
	gates    map[*Gate]struct{} // at which executions wait for the started hook
	fire     time.Time          // the newest fire that was seen to run
	trigger  registry.Revision  // the newest request by hand that was
}

// phaseBarrier is one phase's barrier.
type phaseBarrier struct {
	phase  jobtree.Phase
	hook   func(context.Context, job.WholeRound) error
	within time.Duration

	noted    actor.Lookout    // items to be looked at
	key      jobtree.RoundKey // that the barrier was seen to stand for
	last     jobtree.Barrier  // the last that was seen, also when somebody has deleted it by hand
	missing  map[int]struct{} // awaited items that did not arrive; nil if they are not counted
	complete time.Time        // since when none is missing; zero = some are, or they are not counted
	deadline *time.Timer
	late     bool
	run      *hookRun // that this process has taken and not settled; nil = none
}

// Together tells whether the items of a job have rounds that hooks can be about. What is not recorded leaves no trace of who
// has run, and with a fixed delay each item goes its own way.
func Together(cfg *job.Config, rules *policy.Rules) bool { return cfg.Monitored() && rules.Delay == 0 }

// New makes the room of a job; nil without a listener.
func New(l *job.WholeRoundListener, ports Ports) *Rounds {
	if l == nil {
		return nil
	}
	r := &Rounds{ports: ports, listener: *l, gates: make(map[*Gate]struct{})}
	if l.AllStarted != nil {
		r.barriers = append(r.barriers, &phaseBarrier{phase: jobtree.PhaseStarted, hook: l.AllStarted, within: l.StartedWithin})
	}
	if l.AllCompleted != nil {
		r.barriers = append(r.barriers, &phaseBarrier{phase: jobtree.PhaseCompleted, hook: l.AllCompleted, within: l.CompletedWithin})
	}
	return r
}

// Phases are those that have a hook.
func (r *Rounds) Phases() []jobtree.Phase {
	if r == nil {
		return nil
	}
	phases := make([]jobtree.Phase, len(r.barriers))
	for i, g := range r.barriers {
		phases[i] = g.phase
	}
	return phases
}

func (r *Rounds) of(p jobtree.Phase) *phaseBarrier {
	return r.barriers[slices.IndexFunc(r.barriers, func(g *phaseBarrier) bool { return g.phase == p })]
}

// Observe takes in what a step of the view has changed.
func (r *Rounds) Observe(v room.View, t jobtree.Touched) {
	if r == nil {
		return
	}
	if len(t.Items) > 0 {
		horizon := v.Clock.Horizon()
		for _, n := range t.Items {
			r.see(v.State.Record(n).Value, horizon)
		}
	}
	for _, g := range r.barriers {
		g.noted.Note(t.Items, t.Config || t.Epoch)
	}
}

// see notes which rounds are under way.
func (r *Rounds) see(record jobtree.Record, horizon time.Time) {
	if record.State != jobtree.ItemRunning || record.FireAhead(horizon) {
		return
	}
	if key := keyOf(record); key.Fire.IsZero() {
		r.trigger = max(r.trigger, key.Trigger)
	} else if key.Fire.After(r.fire) {
		r.fire = key.Fire
	}
}

// Decide proposes the step that the barrier of a phase is ready for. A hook that has returned comes before, see
// [Rounds.SettleHook].
func (r *Rounds) Decide(v room.View, p jobtree.Phase) room.Batch {
	g, b := r.of(p), v.State.Barrier(p)
	r.follow(v, g, b.Round.Value)
	now := v.Clock.Now()
	orphaned := b.Hook.Value == v.Instance && b.Hook.Session == v.Attached.Session.ID() &&
		(g.run == nil || g.run.token != b.Hook.Created)
	switch {
	case orphaned:
		return r.settle(v, p, barrier.Disown(v.State, p, now), jobtree.BarrierLost)
	case barrier.Lost(v.State, p):
		return r.settle(v, p, barrier.DeclareLost(v.State, p, now), jobtree.BarrierLost)
	case v.Leaving:
		return nil // what is left to be done is for those who stay
	case !b.Round.Value.Awaits():
		if !r.hasCome(v, r.fire) {
			return nil // those that run for the fire before it may still end in time for it
		}
		return r.reopen(v, p)
	case g.late: // also if all have arrived since
		return r.settle(v, p, barrier.Expire(v.State, p, now), jobtree.BarrierTimeout)
	case len(g.missing) == 0 && r.hasCome(v, b.Round.Value.Fire) && r.mayTake(v, g):
		return r.takeHook(v, g)
	default:
		return nil
	}
}

// hasCome tells whether the fire of a round has come: items may begin for one that comes soon.
func (r *Rounds) hasCome(v room.View, fire time.Time) bool {
	left := v.ToCome(fire)
	if left <= 0 || left > fires.MaxHeadStart { // that of another clock
		return true
	}
	r.ports.Wake(left)
	return false
}

// patience is how long the hook of a complete barrier is left to the instance that it falls to.
const patience = time.Second

// mayTake tells whether this instance is to take the hook of a complete barrier. It does so if the hook falls to it, or if the
// instance to which it falls has not taken it in time: that one may stand still for long while its session goes on. If
// it wakes up in the same moment, one of the two is refused, as the taking compares the barrier.
func (r *Rounds) mayTake(v room.View, g *phaseBarrier) bool {
	if !v.Registered() {
		return false
	}
	if barrier.FallsTo(v.State, g.phase, v.Instance) {
		return true
	}
	left := patience + v.HoldBack() - time.Since(g.complete)
	if left > 0 {
		r.ports.Wake(left)
	}
	return left <= 0
}

// follow keeps count of the items that a barrier still awaits, at a cost that depends on what changed.
func (r *Rounds) follow(v room.View, g *phaseBarrier, b jobtree.Barrier) {
	all, items := g.noted.TakeNoted()
	horizon := v.Clock.Horizon()
	if !b.Key().IsZero() && (horizon.IsZero() || !b.Fire.After(horizon)) {
		g.last = b
	}
	if !same(g.key, b.Key()) {
		g.key = b.Key()
		r.setDeadline(v, g, b)
		all, g.complete = true, time.Time{}
	}
	if !b.Awaits() {
		g.missing, g.complete = nil, time.Time{}
		return
	}
	defer g.noteComplete()
	check := func(n int) {
		if barrier.Missing(v.State, g.phase, n, horizon) {
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
	for _, n := range items {
		if _, awaited := slices.BinarySearch(b.Items, n); awaited {
			check(n)
		}
	}
}

// noteComplete notes since when no item is missing.
func (g *phaseBarrier) noteComplete() {
	if len(g.missing) > 0 {
		g.complete = time.Time{}
	} else if g.complete.IsZero() {
		g.complete = time.Now()
	}
}

// setDeadline arranges a look at a barrier when its time is over, counted from when it is first seen, as
// clocks differ. The instances come one after the other, so that as a rule one alone writes.
func (r *Rounds) setDeadline(v room.View, g *phaseBarrier, b jobtree.Barrier) {
	g.late = false
	if g.deadline != nil {
		g.deadline.Stop()
	}
	if !b.Awaits() {
		return
	}
	key := g.key
	g.deadline = time.AfterFunc(g.within+v.HoldBack(), func() {
		r.ports.Post(func() { g.late = same(g.key, key) })
	})
}

// settle proposes to settle a barrier whose hook ends nowhere, and reports that.
func (r *Rounds) settle(v room.View, p jobtree.Phase, txn registry.Txn, outcome jobtree.BarrierOutcome) room.Batch {
	b, clock := v.State.Barrier(p).Round.Value, v.Clock
	return room.Batch{{Step: "settle a barrier", Alone: true, Txn: txn, Apart: true, Done: func(registry.Outcome) {
		r.ports.BarrierSettled(p, b.Settled(outcome, "", clock.Now()), nil)
	}}}
}

// Busy tells whether a hook runs here, or how it ended is still to be recorded.
func (r *Rounds) Busy() bool {
	return r != nil && slices.ContainsFunc(r.barriers, func(g *phaseBarrier) bool { return g.run != nil })
}

// Stop stops the timers. It is for the end, when the runner does nothing any more.
func (r *Rounds) Stop() {
	if r == nil {
		return
	}
	for _, g := range r.barriers {
		if g.deadline != nil {
			g.deadline.Stop()
		}
	}
}

// keyOf returns which round of the whole job the current execution of a record is part of.
func keyOf(record jobtree.Record) jobtree.RoundKey {
	if e := record.Current; e.ByHand() {
		return jobtree.RoundKey{Trigger: cmp.Or(e.Trigger, record.Trigger)}
	}
	return jobtree.RoundKey{Fire: record.Current.Fire}
}

func same(a, b jobtree.RoundKey) bool { return a.Trigger == b.Trigger && a.Fire.Equal(b.Fire) }
