package rounds

import (
	"crypto/rand"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/admission"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/requests"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/wholeround"
)

// Round is what one decision begins.
type Round struct {
	id      string
	now     time.Time
	request requests.Open // by hand
	refuse  bool          // this process's clock is too far off to run a fire
	batch   room.Batch
	begun   []*executions.Execution // that are to run
	early   bool                    // before their fire has come

	handed   admission.Handed
	late     bool  // there are late begins among them, that go behind those on time
	admitted int   // begins in the batch for which the items had to have their turns
	noted    []int // items that were looked at

	decided time.Time
	begins  int                     // in the batch
	left    bool                    // more are left to the next round
	answers answers                 // of the registry, to the begins
	refused func(error) (over bool) // notes one of them

	newest   wholeround.Newest // of those that are to begin
	nextFire time.Time         // of the job, after now; zero = nobody has asked
}

// newRoundID returns what a round is known by, in records, in the log and to listeners.
func newRoundID() string { return rand.Text()[:12] }

// Decide proposes to begin what is due of my items: all in one request, each by itself. When that was
// committed, [Rounds.Committed] runs what was begun. The round is nil if nothing may begin, or is to be considered.
func (r *Rounds) Decide(v room.View) (*Round, room.Batch) {
	r.noteCome(v)
	if !r.MayBegin(v) || !r.ports.Peers().MayBegin(v) {
		return nil, nil
	}
	r.refreshOwned(v)
	now := v.Clock.Now()
	if r.wakeDelayed(v, now); r.toConsider.Empty() { // as after most changes
		return nil, nil
	}
	round := &Round{
		id: newRoundID(), now: now, request: r.requests(v), refuse: v.ClockRefused, noted: r.toConsider.Take(v.State.Total()),
	}
	round.refused = round.answers.refuse
	if r.stride.over(len(r.owned)) {
		r.stride = nil
	}
	for _, early := range []bool{false, true} { // so that nothing that has come waits for what is still to come
		for n := range r.inTurn(round.noted) {
			if v.Owns(n) && early == r.onlyEarly(v, round, n) {
				r.consider(v, round, n)
			}
		}
	}
	if len(round.batch) > 0 {
		if opens := r.ports.Hooks().Open(v, round.newest); len(opens) > 0 {
			round.batch = append(opens, round.batch...)
		}
	}
	if round.admitted > 0 {
		round.handed = r.ports.Admission().Hand(r, round.late, time.Now())
	}
	round.decided = time.Now()
	return round, round.batch
}

// Committed goes on with a round when its proposals have been committed.
func (r *Rounds) Committed(v room.View, round *Round) {
	r.ports.Admission().Confirmed(r, round.admitted, round.handed, round.answers.confirmed > 0, time.Now())
	r.ports.Load().Begin(len(round.begun))
	r.strideOn(round)
	r.runRound(v, round)
	for _, n := range round.noted {
		if it := r.items[n]; it != nil && it.blank() {
			delete(r.items, n)
		}
	}
	if len(r.items) == 0 {
		r.items = nil
	}
}

// MayBegin tells whether anything may begin here.
func (r *Rounds) MayBegin(v room.View) bool { return !r.settings.AwaitsCode && r.mayBeginSoon(v) }

// mayBeginSoon tells whether anything may begin here once the job's code has said what it makes of new settings. If that
// takes too long, the settings cannot be used.
func (r *Rounds) mayBeginSoon(v room.View) bool {
	return !v.Blind && v.Usable && !v.Out && v.TokensKnown && v.ServerEnabled() && v.State.Total() == v.Config.ShardingTotalCount
}

// consider decides what happens to one of my items now.
func (r *Rounds) consider(v room.View, round *Round, n int) {
	it, node := r.item(n), v.State.Item(n)
	r.rouse(it)
	m := v.Rules
	if node.Disabled || v.Config.Unmonitored { // no begin deletes it
		r.forget(v, round, it, node)
	}
	if node.Disabled {
		it.Due = it.Due.DropDisabled()
		return
	}
	if v.Applied < it.wrote || it.running != nil && it.running.Undo {
		r.awaitWritten(v, round, it, node)
		return // the state does not show yet what this runner wrote
	}
	if it.running != nil || node.Running.Exists() {
		it.Due = m.Miss(it.Due)
		// A run of this session is no reason to wait on: others may tell what they know while it goes on.
		if node.Running.Exists() && node.Running.Session != v.Attached.Session.ID() {
			it.ExpectOn()
		}
		return
	}
	if r.ports.Peers().MaybeLost(n) || r.ports.Peers().TakenOff(v, node) {
		it.Due = m.Miss(it.Due) // so that its next fire does not bury it
		return
	}
	r.expire(v, it, round.now, it.queued || r.stride != nil)
	if round.refuse {
		it.Due = m.Miss(it.Due)
	}
	if v.Config.Unmonitored {
		r.beginUnmonitored(v, round, it, node.Record.Value.Trigger)
		return
	}
	r.considerRecord(v, round, it, node)
}

// forget proposes to forget what by the settings in force is neither made up nor run again.
func (r *Rounds) forget(v room.View, round *Round, it *item, node jobtree.Item) {
	if v.Applied < it.wrote || node.Running.Exists() {
		return // its end comes first
	}
	round.batch = append(round.batch, r.missed.Forget(v, node)...)
	r.giveUpMoot(v, round, it.number)
}

// considerRecord decides by the item's record. An execution that was lost comes first, so that the
// schedule never buries it and it never blocks the schedule for longer than it takes.
func (r *Rounds) considerRecord(v room.View, round *Round, it *item, node jobtree.Item) {
	if node.Record.Err != nil {
		it.Due = v.Rules.Miss(it.Due)
		round.batch = append(round.batch, r.ports.SetAside(v, node, round.now)...)
		return
	}
	switch {
	case node.Record.Value.State == jobtree.ItemRunning:
		it.Due = v.Rules.Miss(it.Due)
		it.ExpectOn()
		lost, wait := r.ports.Lost(v, it.number, r.RunningHere(it.number))
		if lost {
			round.batch = append(round.batch, r.ports.DeclareLost(v, it.number)...)
		}
		if wait {
			r.toConsider.Add(it.number)
		}
	case node.Record.Value.State == jobtree.ItemWaiting && v.Config.Failover:
		it.Due = v.Rules.Miss(it.Due)
		if !r.makesWay(it, node.Record.Value, round.now) {
			r.proposeClaim(v, round, it)
		}
	default:
		r.considerDelay(v, it, node.Record.Value, round)
		r.missed.Recall(v, &it.Item, node, round.now)
		r.proposeBegin(v, round, it, node)
	}
}

// ranFor returns the last fire for which an item has run: what its record shows, another instance may have run. One that a
// broken clock wrote is not believed, and is none.
func (r *Rounds) ranFor(it *item, node jobtree.Item, horizon time.Time) time.Time {
	ran := node.Record.Value.LastFire
	if !node.Record.Value.FireAhead(horizon) {
		return ran
	}
	if !ran.Equal(it.ignored) {
		it.ignored = ran
		r.ports.Log().ErrorContext(r.ports.Life(), "ignoring the last fire of an item: a broken clock wrote it", room.KeyItem, it.number, room.KeyFire, ran)
	}
	return time.Time{}
}

// choose chooses what an item is to run for, if anything: begin says that, guards are those of a request by hand, and turn
// is the begin's. ok is false if nothing is to begin now.
func (r *Rounds) choose(v room.View, round *Round, it *item, node jobtree.Item) (begin jobtree.Begin, guards []registry.Condition, turn registry.Turn, ok bool) {
	request, asked := round.request.For(it.number, max(node.Record.Value.Trigger, it.triggered))
	switch {
	case it.fireGoes(v, asked) && !round.refuse && !r.notYet(v, it, round.now) && !r.missed.Awaits(v, &it.Item, node, round.now):
		if turn, ok = r.admit(v, round, it); ok { // else a request waits as well: its turn would come while the item runs for that
			it.fireGone(asked)
		}
		begin.Fire, begin.Source = it.Due.Next()
		return begin, nil, turn, ok
	case !asked:
		it.first = asUsual
		if round.refuse && !it.Due.None() {
			r.retryLater(v, it)
		}
		begin.Fire, begin.Source = it.early, job.Scheduled
		turn, ok = r.admitEarly(v, round, it)
		return begin, nil, turn, ok
	}
	it.requestGone()
	begin.Source, begin.Trigger = job.Manual, request.Revision
	begin.Fire, begin.Parameter = request.Fire, request.Parameter
	turn = registry.Turn{Rank: registry.RankWork, Share: r.ports.Job()}
	if !request.Until.IsZero() {
		turn.Until = time.Now().Add(request.Until.Sub(round.now)) // by the monotonic clock
	}
	return begin, request.Guards, turn, true
}

// notYet tells whether the time of what is due next is still to come: the clock that ticked it was ahead, and
// has been set back since, or the item came here before the fire's jitter was over.
func (r *Rounds) notYet(v room.View, it *item, now time.Time) bool {
	fire, _ := it.Due.Next()
	left := v.Rules.Told(fire).Sub(now)
	if left <= 0 {
		return false
	}
	r.toConsider.Add(it.number)
	r.ports.Wake(min(left+tickFirst, fires.WallCheck))
	return true
}

// tickFirst is how long a fire whose time has come is left to its tick.
const tickFirst = 10 * time.Millisecond
