package rounds

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/admission"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/policy"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// A job whose begins take a while to be committed has a head start: by so much before a fire, items of which nothing else is to
// be said begin for it. What has begun is held until the fire comes, and then its code is called at once, not a commit later.
//
// The fire itself comes as without: all that is decided by it is decided then, and an item that did not begin early begins
// then. Whatever would keep an item from beginning when the fire comes has its begin taken back.
//
// A job learns its head start from its own begins. One that keeps no marks commits none, and needs none.

const (
	// headStartEases says how slowly a head start shrinks: with each fire by the eighth part of what is too much.
	headStartEases = 8
	// headStartShare says how long it may be: the fourth part of the time between two fires.
	headStartShare = 4
	// headStartStep is the smallest change of it that is worth the trouble.
	headStartStep = 50 * time.Microsecond
	// longestHold is how long anything is held: clocks are corrected by a little, and what is set back by more is another time.
	longestHold = fires.MaxHeadStart + time.Second
)

// held are the rounds whose fires are still to come.
type held struct{ rounds []heldRound }

// heldRound is one of them.
type heldRound struct {
	*Round
	until time.Time
}

// TickEarly notes a fire that is still to come for those of my items that only wait for it. No fire tells that none comes.
// decide tells whether there is anything to decide now.
func (r *Rounds) TickEarly(v room.View, fire time.Time) (decide bool) {
	if fire.IsZero() || r.stale || !r.mayBeginEarly(v) {
		return r.held != nil
	}
	if !v.Rules.Schedule.Next(fire.Add(-1)).Equal(fire) {
		return false // told of by a cron that was changed while that waited for its turn
	}
	for _, n := range r.owned {
		if r.waitsForFire(v, n) {
			r.item(n).early = fire
			r.toConsider.Add(n)
			decide = true
		}
	}
	return decide
}

// mayBeginEarly tells whether anything of the job may begin for a fire that is still to come.
func (r *Rounds) mayBeginEarly(v room.View) bool {
	return r.hasHeadStart(v) && r.MayBegin(v) && r.ports.Peers().MayBegin(v) && !v.ClockRefused && !v.Leaving && v.Attached.Connected() &&
		!r.ports.Admission().Full()
}

// waitsForFire tells whether nothing is to be decided about an item but for its next fire.
func (r *Rounds) waitsForFire(v room.View, n int) bool {
	if v.State.Disabled(n) || r.ports.Peers().MaybeLost(n) || !plainlyIdle(v.State.Item(n)) {
		return false
	}
	it := r.items[n]
	return it == nil || it.running == nil && it.Due.None() && it.permit == noPermit && !it.queued && !it.MayBeTold() && v.Applied >= it.wrote
}

// onlyEarly tells whether an item can but begin for a fire that is still to come.
func (r *Rounds) onlyEarly(v room.View, round *Round, n int) bool {
	if it := r.items[n]; it == nil || it.early.IsZero() || !it.Due.None() || !plainlyIdle(v.State.Item(n)) {
		return false
	}
	_, asked := round.request.For(n, max(v.State.Record(n).Value.Trigger, r.items[n].triggered))
	return !asked
}

// admitEarly tells whether an item may begin for a fire that is still to come, and in which turn. If it may not now, it waits
// for the fire.
func (r *Rounds) admitEarly(v room.View, round *Round, it *item) (turn registry.Turn, ok bool) {
	fire := it.early
	if it.early = (time.Time{}); fire.IsZero() || round.refuse || !it.Due.None() || it.MayBeTold() {
		return turn, false
	}
	if len(round.batch) > 0 && !round.early { // what has come would have to wait for it
		return turn, false
	}
	left := v.ToCome(fire)
	if left <= 0 || left > v.HeadStart || r.ports.Admission().Full() || !r.ports.Admission().Take(r, admission.OnTimeFirst) {
		return turn, false
	}
	r.have(it, permitted)
	round.early = true
	turn = registry.Turn{Rank: ranks[admission.OnTimeFirst], Share: r.ports.Job()}
	usual, _ := r.ports.Admission().Expected()
	if until := v.Rules.Until(policy.Due{OnTime: fire}, usual); !until.IsZero() {
		turn.Until = time.Now().Add(until.Sub(round.now)) // by the monotonic clock
	}
	return turn, true
}

// begunFor tells whether an item runs for a fire, or is to.
func (it *item) begunFor(fire time.Time) bool {
	e := it.running
	return e != nil && !e.Undo && e.Context.Source == job.Scheduled && e.Context.Fire.Equal(fire)
}

// runRound runs what has begun, as a round, if anything has: at once, or when its fire comes.
func (r *Rounds) runRound(v room.View, round *Round) {
	if len(round.begun) == 0 {
		return
	}
	r.learnHeadStart(v, round)
	until := round.due(v)
	if left := until.Sub(v.Clock.Now()); left <= 0 || left > longestHold {
		r.run(v, round, until)
		return
	}
	round.batch = nil // it is committed, and need not stay for as long
	r.hold(heldRound{round, until})
	r.mindHeld(v)
}

// due returns when the last of the fires that a round runs for comes.
func (ro *Round) due(v room.View) (last time.Time) {
	for _, e := range ro.begun {
		if e.Context.Source != job.Manual {
			last = policy.Later(last, v.Rules.Told(e.Context.Fire))
		}
	}
	return last
}

// RunHeld runs the rounds whose fires have come, or will not come soon any more: the clock was set back. What is not to run any
// more is taken back at once. decide tells whether there is anything to decide now.
func (r *Rounds) RunHeld(v room.View) (decide bool) {
	if r.held == nil { // as a rule, and this is asked before every decision
		return false
	}
	r.executions.TellYields(v) // before anything of them starts
	now := v.Clock.Now()
	waiting := r.held.rounds
	r.held = nil
	for _, h := range waiting {
		left := h.until.Sub(now)
		h.begun = slices.DeleteFunc(h.begun, func(e *executions.Execution) bool { return r.executions.TakeBack(v, e, left <= 0) })
		switch {
		case len(h.begun) == 0:
		case left <= 0 || left > longestHold:
			r.run(v, h.Round, h.until)
		default:
			r.hold(h)
		}
	}
	r.mindHeld(v)
	return true
}

func (r *Rounds) hold(h heldRound) {
	if r.held == nil {
		r.held = new(held)
	}
	r.held.rounds = append(r.held.rounds, h)
}

// mindHeld sees to it that what is held is run though nobody tells of its fire any more: the job pauses, or the scheduler
// stops.
func (r *Rounds) mindHeld(v room.View) {
	if r.held == nil || !v.Leaving && r.ports.ToldEarly() {
		return
	}
	for _, h := range r.held.rounds {
		r.ports.Wake(max(1, h.until.Sub(v.Clock.Now())))
	}
}

// run runs a round whose fires came at a time.
func (r *Rounds) run(v room.View, round *Round, came time.Time) {
	r.shutGates(v, round.begun)
	task := round.begun[0].Context.TaskID // items may have moved since
	r.executions.RunRound(v, round.id, task, policy.Later(round.now, came), round.begun)
}

// hasHeadStart tells whether the job may have one. A fixed delay counts from what the records say, and Java knows no head
// start. The first begin for a fire opens the barrier of its round, which must not take the place of the one before.
func (r *Rounds) hasHeadStart(v room.View) bool {
	return v.Usable && v.Config.Monitored() && v.Rules.Delay == 0 && !v.Rules.Ageless && !v.State.SharedWithJava() && !r.ports.Hooks().Any()
}

// learnHeadStart fits the head start to how long it took to begin for a fire since it was told of. It grows at once and shrinks
// slowly: a begin that is confirmed late makes its code late, and one that is confirmed early does no harm.
func (r *Rounds) learnHeadStart(v room.View, round *Round) {
	had := v.HeadStart
	if !r.hasHeadStart(v) || r.ports.Overloaded() {
		if had != 0 {
			r.ports.SetHeadStart(0)
		}
		return
	}
	var fire time.Time
	for _, e := range round.begun {
		if e.Context.Source == job.Scheduled {
			fire = policy.Later(fire, e.Context.Fire)
		}
	}
	if fire.IsZero() {
		return
	}
	took := -v.ToCome(fire)
	if round.early {
		took += had
	} else if round.now.Sub(v.Rules.Told(fire)) > fires.MaxHeadStart {
		return // something else has held it up
	}
	next := max(0, min(took, fires.MaxHeadStart))
	if next < had {
		next = had - (had-next)/headStartEases
	}
	if following := v.Rules.Schedule.Next(fire); !following.IsZero() {
		next = min(next, following.Sub(fire)/headStartShare)
	}
	if (next - had).Abs() >= headStartStep {
		r.ports.SetHeadStart(next)
	}
}
