package scheduler

import (
	"context"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/actor"
	"github.com/elasticron/elasticron/scheduler/internal/configuration"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/leadership"
	"github.com/elasticron/elasticron/scheduler/internal/lost"
	"github.com/elasticron/elasticron/scheduler/internal/membership"
	"github.com/elasticron/elasticron/scheduler/internal/mending"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
	"github.com/elasticron/elasticron/scheduler/internal/peers"
	"github.com/elasticron/elasticron/scheduler/internal/requests"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/rounds"
	"github.com/elasticron/elasticron/scheduler/internal/wholeround"
)

// runner takes part in one job for this process. It is an actor: everything below box is touched only by messages of the
// mailbox and by decide, which follows every batch of them. Others may read only what says so, and may wait for the events
// of the departure and ask the failures, which are safe for that.
//
// decide looks at the state of the job's tree, at what runs here and at what is due, and commits
// what must happen next. It never sleeps and never waits for an event: what it cannot do yet, it
// does when a message brings what was missing.
type runner struct {
	s            *Scheduler
	name         string
	handler      job.Handler // as it was declared; what runs is in settings
	class        string      // as it was declared; empty if the job is data
	declared     *jobOptions
	tree         jobtree.Tree
	log          *slog.Logger
	tally        tally
	joinedOrGone actor.Event            // the instance was registered for the first time, or the scheduler has the job no more
	opened       actor.Event            // the view is open
	life         context.Context        // once started
	view         *registry.View         // once started; the runner replaces it under the scheduler's mu, and others read it under that
	next         *registry.View         // that is open and does not replace view yet; guarded by the scheduler's mu
	outside      func(path string) bool // what the view leaves out of others' items; nil = nothing. Guarded likewise
	box          actor.Mailbox
	alarm        actor.Alarm  // wakes the runner when time alone makes something due
	entry        *fires.Entry // in the timetable

	// What it knows.
	started    bool              // the view is open
	joined     bool              // the instance was registered
	dismissed  bool              // the scheduler goes on without the job
	idle       bool              // all servers on which instances live are disabled
	resting    bool              // an election failed, and the next one comes after a while
	toldServer bool              // it was logged that this server is disabled
	toldJob    bool              // and that the job is
	absent     bool              // it was declared without being created, and was not there; written before anybody else sees the runner
	blind      *blind            // nil while there is a view, and before it is known that there can be none
	snapshot   registry.Snapshot // that the view showed last
	state      *jobtree.State
	applied    registry.Revision       // the state is at least as new as this
	needed     registry.Revision       // decide nothing before the state is as new as this
	futile     registry.Revision       // a state on which a decision was made that conflicted with that very state
	awaited    registry.Revision       // that somebody waits for until the view shows it
	attached   *room.Attachment        // nil while there is no session
	settings   *configuration.Settings // in force
	configured time.Time               // when they came, or the servers of all instances were not disabled any more
	pausedFor  string                  // why the job pauses; written under the scheduler's mu: a dump reads it
	shown      time.Time               // when the view showed something last
	toldItems  map[int]time.Time       // that were logged as disabled: when they were not any more; zero = they still are
	seen       room.View               // what the rooms were shown last
	departure  departure
	denials    room.Denials
	scope      scope // what it follows

	// Its rooms.
	configuration *configuration.Configuration
	leadership    *leadership.Leadership
	lost          *lost.Executions
	membership    *membership.Membership
	mending       *mending.Mending
	peers         peers.Peers // others that share the job
	rounds        *rounds.Rounds
	hooks         *wholeround.Rounds // nil without a job.WholeRoundListener
	failures      notify.Failures
}

func newRunner(s *Scheduler, cfg job.Config, handler job.Handler, declared *jobOptions) *runner {
	r := &runner{
		s: s, name: cfg.Name, handler: handler, declared: declared,
		state: s.dialect.NewState(cfg.Name), settings: configuration.None(),
	}
	r.tree = r.state.Tree()
	r.log = slog.New(named{r})
	if _, data := handler.(handlers); !data {
		r.class = cfg.ClassName()
	}
	p := ports{func() *runner { return r }}
	r.hooks, r.peers = r.newWholeRounds(p), r.newPeers(p)
	r.leadership = leadership.New(leadershipPorts{p})
	r.mending = mending.New(mendingPorts{p})
	r.membership, r.lost = membership.New(membershipPorts{p}), &lost.Executions{Ports: p}
	r.rounds, r.configuration = rounds.New(roundsPorts{p}), configuration.New(configurationPorts{p})
	r.failures.Bounds = &s.failures
	r.box.Of = acting{r}
	r.entry = fires.NewEntry(actor.NewLull(&r.box, actor.Notes[fires.Tick](acting{r})).Post)
	r.alarm.Ring = func() { r.box.Post(r.alarm.Rang) }
	return r
}

// stopTimers ends what would wake a runner whose work is done.
func (r *runner) stopTimers() {
	r.alarm.Stop()
	r.blind.stopTimer()
	r.configuration.Stop()
	r.leadership.Stop()
	r.hooks.Stop()
}

// acting is the runner as an actor, to which the timetable posts fires as notes.
type acting struct{ r *runner }

// Start implements [actor.Actor].
func (a acting) Start(work func()) { a.r.s.work.Go(work) }

// After implements [actor.Actor].
func (a acting) After() {
	if a.r.dismissed {
		return // no decision sets anything again
	}
	a.r.decide()
	a.r.follow()
	a.r.rounds.ReturnTurns()
	if f := a.r.departure.farewell; f != nil && f.heard {
		f.heard = false
		a.r.s.handovers.GiveBack(&f.turn) // if it could not be used
	}
}

// Quiet implements [actor.Actor].
func (a acting) Quiet() bool { return a.r.rounds.Dozes(a.r.look()) }

// Useless implements [actor.Notes]: whose items wait for their turns does not begin anything early.
func (acting) Useless(t fires.Tick) bool { return t.Early }

// Fold implements [actor.Notes].
func (acting) Fold(kept, next fires.Tick) (both fires.Tick, ok bool) { return rounds.Fold(kept, next) }

// Keep implements [actor.Notes].
func (a acting) Keep() { a.r.rounds.Kept() }

// Do implements [actor.Notes].
func (a acting) Do(t fires.Tick, kept bool) (decide bool) {
	v := a.r.look()
	if t.Early {
		return a.r.rounds.TickEarly(v, t.Fire)
	}
	held := a.r.rounds.RunHeld(v)
	return a.r.rounds.Tick(v, t, kept) || held
}

// apply brings the state up to a step of the view.
func (r *runner) apply(step registry.Step) {
	r.snapshot = step.Snapshot
	r.peers.Before(r.look(), step)
	r.rounds.Before(r.look(), step)
	touched := r.state.Apply(step)
	if r.peers.After(r.look(), touched) {
		r.leadership.LookAgain()
	}
	before := r.applied
	r.applied = max(before, step.Snapshot.Revision())
	r.leadership.Observe(r.look(), touched)
	r.lost.Observe(touched)
	r.mending.Observe(r.look(), touched)
	r.rounds.Observe(touched)
	r.hooks.Observe(r.look(), touched)
	r.reportUnreadable(touched)
	r.shown = time.Now()
	r.noteMoves(before, step, touched)
	if touched.Config {
		r.configured = r.s.now()
		r.tryDenied() // somebody may have seen to it
		r.configure()
	}
	if touched.Leader {
		r.seesElection()
	}
	r.noteIdle()
	r.tellChanges(touched)
	r.rounds.ObserveFires(r.look(), touched)
}

// attach notes the session under which new work starts; nil is none.
func (r *runner) attach(a *room.Attachment) {
	if a != r.attached {
		r.leadership.LookAgain()
		r.lost.LookAgainAtAll()
		r.rounds.LookAgainAtAll()
		r.mending.NewSession()
		r.tryDenied()
		r.scope.moved, r.scope.stale = time.Now(), true
	}
	if a != nil && r.attached == nil {
		r.membership.Hold(a.Session.ID())
	}
	if r.attached != nil && a == nil {
		r.lost.SessionLost()
	}
	if a != nil && a != r.attached {
		r.departure.attached(a.Session.ID())
	}
	r.attached = a
	if a != nil {
		r.await(r.needed) // what was waited for may have come and gone while there was no session
	}
}

// decide commits what must happen next, from what is known now. A runner that has not been started knows
// nothing, and has nothing to hand over.
func (r *runner) decide() {
	if !r.started {
		if r.departure.leaving && !r.departure.drained.Has() {
			r.departure.drained.Happen()
		}
		return
	}
	if r.blind != nil {
		r.decideBlind()
		return
	}
	r.heedShutdown()
	r.followLeadership()
	r.rounds.RunHeld(r.look())
	r.rounds.Executions().TellYields(r.look())
	r.rounds.Executions().StartWaiting(r.look())
	r.finish()
	r.hold()
	if r.departure.leaving {
		r.rested() // there is no next election
		if r.attached != nil && r.applied >= r.needed {
			r.clearOrphans()
		}
		r.mindBarriers()
		r.leave()
		return
	}
	if !r.attached.Connected() {
		r.membership.Disconnected()
		return
	}
	if r.applied < r.needed {
		return
	}
	if r.mend(); r.applied < r.needed {
		return
	}
	if !r.takePart() { // for whatever reason: what it has begun before goes on
		r.clearOrphans()
		r.mindBarriers()
		return
	}
	r.lead()
	if r.applied < r.needed {
		return // what the leader just committed may be about the items below
	}
	r.clearOrphans()
	if r.heedPeers(); r.applied < r.needed {
		return
	}
	r.begin()
	r.noteMissed()
	r.mindBarriers()
	r.rounds.Answer(r.look())
	if r.state.KnowsAll() {
		r.commit(requests.Decide(r.look(), r.s.traits, r.wants))
	}
}

// decideAgain has another decision follow the present one, as nothing that comes may tell of what this one has brought.
func (r *runner) decideAgain() { r.box.Post(func() {}) }

// committed notes that this runner changed the tree: the next decision needs to see that.
func (r *runner) committed(revision registry.Revision) {
	r.needed = max(r.needed, revision)
	if !r.state.KnowsAll() { // the view may not show what it changed
		r.await(revision)
	}
}

// overtaken notes that a decision was made on an old state. It is made again on the newer state that
// it conflicted with.
func (r *runner) overtaken(conflict *registry.ConflictError) {
	revision := conflict.Revision
	if r.applied >= revision {
		if r.futile == r.applied { // the state as it is does not tell what is in the way
			r.alarm.Set(room.RetryAfter)
			r.scope.stale = true
			return
		}
		r.futile = r.applied
		r.decideAgain()
		return
	}
	r.needed = max(r.needed, revision)
	r.await(revision)
}

// await makes the runner decide again when the view shows a revision, also if that brings no change.
func (r *runner) await(revision registry.Revision) {
	if revision <= max(r.awaited, r.applied) || r.scope.replacing { // which ends with another look at what is needed
		return
	}
	r.awaited = revision
	view := r.view
	r.s.work.Go(func() {
		if err := view.WaitRevision(r.life, revision); err != nil {
			return // the scheduler stops, or the view ended
		}
		r.box.Post(func() {
			if view == r.view && !r.scope.replacing {
				r.applied = max(r.applied, revision)
			}
		})
	})
}

// wants tells whether an item is still to be run for a request by hand.
func (r *runner) wants(n int, request registry.Revision) bool {
	return r.rounds.Wants(r.look(), n, request)
}
