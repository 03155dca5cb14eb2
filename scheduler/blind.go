package scheduler

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// While its view has ended and no other is open yet, a runner is blind. It begins nothing, because it could not know what it
// decides upon. Executions that run go on to their ends, which need no view; so do those that have begun and wait for the hook
// of their round. If that takes longer than the session's TTL, others get the job's items: the instance leaves the job as it
// was last seen, and where it may not even write that, the process gives its session up, which is all that still
// holds the items. That interrupts the other jobs of the process once; the next session holds nothing of
// a job that cannot be joined.
//
// A job that is data and whose tree cannot be opened when it is taken up is like that from the start, see neverSaw: but of that
// nothing is known, and this instance holds nothing, so that there is nothing to leave.

// blindPatience is the patience of a process that has no session whose TTL would tell.
const blindPatience = 10 * time.Second

// blind is what a runner knows of a view that has ended, or of its first one while that cannot be opened.
type blind struct {
	since    time.Time
	reason   error
	patience *time.Timer
	expired  bool // the patience is over

	found  []registry.Change // what refused transactions tell that was not shown
	denied bool              // a transaction was refused that nobody may do any more
}

// stopTimer ends what would wake a runner that is not blind any more, or whose work is done.
func (b *blind) stopTimer() {
	if b != nil && b.patience != nil {
		b.patience.Stop()
	}
}

// neverSaw notes that the tree of the job could not be opened when the job was taken up.
func (r *runner) neverSaw(since time.Time, reason error) {
	r.blind = &blind{since: since, reason: reason}
}

// seesFirst ends that, if it was so.
func (r *runner) seesFirst() {
	if r.blind != nil {
		r.s.observer.observe(ViewEvent{Job: r.name, Time: r.s.now()})
		r.blind = nil
	}
}

// lostSight notes that the view has ended, and starts to reopen it.
func (r *runner) lostSight(view *registry.View, reason error) {
	if view != r.view || r.blind != nil {
		return
	}
	now := &blind{since: time.Now(), reason: reason}
	r.blind = now
	patience := blindPatience
	if r.attached != nil {
		patience = r.attached.Session.TTL()
	}
	r.s.repeated(slog.LevelError, "the job cannot be followed, nothing of it begins; trying again", r.name, reason, "handover", now.since.Add(patience))
	r.s.observer.observe(ViewEvent{Job: r.name, Err: reason, Time: r.s.now()})
	now.patience = time.AfterFunc(patience, func() {
		r.box.Post(func() { now.expired = true })
	})
	r.s.reopenFor(r.life, &r.box, r.tree.Root(), jobtree.ForOperators, r.regainSight)
}

// regainSight goes on with a new view where the old one ended.
func (r *runner) regainSight(view *registry.View) {
	r.s.mu.Lock()
	if r.life.Err() != nil {
		r.s.mu.Unlock()
		view.Close()
		return
	}
	r.view, r.outside = view, nil
	r.s.mu.Unlock()
	r.s.repeated(slog.LevelInfo, "the job can be followed again", r.name, nil, "blind", time.Since(r.blind.since).Round(time.Millisecond).String())
	r.s.observer.observe(ViewEvent{Job: r.name, Time: r.s.now()})
	known := r.known()
	expired := r.blind.expired
	r.blind.stopTimer()
	r.blind = nil
	r.rounds.Missed().ResetTries()
	r.tryDenied() // who lets it be read again may let it be written, too
	r.awaited = 0
	r.subscribe(view, known, func() {
		r.departure.leftBlind = false
		if expired { // until now the state showed what was before
			r.membership.LeftBlind()
		}
		r.widened()
	})
	r.rounds.LookAgainAtAll()
	r.mending.LookAgainAtAll()
	r.await(r.needed)
}

// decideBlind is decide without a view: ends are recorded, those of hooks, too, and when the patience is over, or the
// scheduler stops, the job is left.
func (r *runner) decideBlind() {
	r.rounds.RunHeld(r.look())
	r.rounds.Executions().TellYields(r.look())
	r.rounds.Executions().StartWaiting(r.look())
	r.finish()
	leaves := r.departure.leaving || r.blind.expired
	r.mindBarriersBlind(leaves)
	refused := r.rounds.Executions().LookingInto() // whose marks are gone, so that no leave would be taken
	if leaves && !r.departure.leftBlind && r.attached != nil && !refused {
		r.leaveBlind()
	}
	r.followLeadership()
	if r.departure.leaving {
		r.departure.left = r.departure.left || r.departure.leftBlind
		r.closeDrained()
	}
}

// noteBlind notes what was missed, and goes by what refusals tell of the tree where that has changed since
// the view ended, if only by the end of what ran here. It tells whether nothing is left to be noted, or may
// be; if not, it is to be tried again.
func (r *runner) noteBlind() bool {
	needed := r.needed // a note is nothing that this instance holds
	defer func() { r.needed = needed }()
	for range noteConditions + 1 {
		r.blind.denied = false
		if r.noteMissed() || r.blind.denied {
			return true
		}
		if r.blind.found == nil {
			return false
		}
		r.learnFound()
	}
	return false
}

// noteConditions is how many nodes a note goes by, each of which may have changed: a refusal tells of one.
const noteConditions = 3

// refusedBlind takes note of why a transaction was refused. No view will show it.
func (r *runner) refusedBlind(err error) {
	var conflict *registry.ConflictError
	if errors.As(err, &conflict) {
		path := conflict.Condition.Path
		r.blind.found = append(r.blind.found, registry.Change{Old: r.snapshot.Get(path), New: conflict.Found})
	}
	r.blind.denied = r.blind.denied || errors.Is(err, registry.ErrDenied)
}

// learnFound brings the state up to what refusals told.
func (r *runner) learnFound() {
	changed := make(map[string]registry.Node)
	step := registry.Step{Changes: slices.DeleteFunc(r.blind.found, func(c registry.Change) bool { return c.Old == c.New })}
	r.blind.found = nil
	for _, c := range step.Changes {
		changed[c.Path()] = c.New
	}
	for n := range r.snapshot.All() {
		if _, other := changed[n.Path]; !other {
			changed[n.Path] = n
		}
	}
	nodes := slices.DeleteFunc(slices.Collect(maps.Values(changed)), func(n registry.Node) bool { return !n.Exists() })
	step.Snapshot = registry.NewSnapshot(r.snapshot.Revision(), nodes)
	r.apply(step)
}

// leaveBlind leaves the job as it was last seen.
func (r *runner) leaveBlind() {
	if !r.noteBlind() && !r.rounds.Missed().TryNoting() {
		r.alarm.Set(room.RetryAfter)
		return
	}
	r.rounds.Missed().StopNoting()
	txn := r.membership.LeaveTxn(r.look(), r.marks()) // without its mark, what runs here would be lost
	var err error
	if len(txn.Then) > 0 {
		_, err = r.s.registry.Commit(r.attached.Ctx, txn)
	}
	var conflict *registry.ConflictError
	switch {
	case err == nil && r.applied >= r.needed:
		r.departure.leftBlind = true
		r.log.WarnContext(r.life, "left the job: it cannot be followed", logError, r.blind.reason)
	case r.attached.Ctx.Err() != nil || errors.Is(err, registry.ErrSessionLost):
		// The session ends, and with it what it holds.
	case err == nil, errors.As(err, &conflict), errors.Is(err, registry.ErrDenied), room.Hopeless(err):
		// It may hold what it has not seen, or may not let go of what it holds.
		if err == nil {
			err = r.blind.reason
		}
		r.departure.leftBlind = true
		r.departure.note(unsettled{session: r.attached.Session.ID(), kind: unseenTree})
		if !r.departure.leaving || r.departure.alone(r.s.stop.Err() != nil) { // a stop gives the session up when nothing needs it any more
			r.log.ErrorContext(r.life, "the job can be neither followed nor left: giving the session up", logError, err)
			r.attached.Session.Abandon(err)
		}
	default:
		r.s.repeated(slog.LevelWarn, commitRefused, r.name, err, "step", "leave")
		r.alarm.Set(room.RetryAfter)
	}
}
