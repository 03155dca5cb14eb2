package rounds

import (
	"crypto/rand"
	"errors"
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

	handed   admission.Handed
	late     bool  // there are late begins among them, that go behind those on time
	answered bool  // the registry has confirmed one
	admitted int   // begins in the batch for which the items had to have their turns
	noted    []int // items that were looked at

	newest   wholeround.Newest // of those that are to begin
	nextFire time.Time         // of the job, after now; zero = nobody has asked
}

// Decide proposes to begin what is due of my items: all in one request, each by itself. When that was
// committed, [Rounds.Committed] runs what was begun. The round is nil if nothing may begin, or is to be considered.
func (r *Rounds) Decide(v room.View) (*Round, room.Batch) {
	if !r.MayBegin(v) || !r.ports.Peers().MayBegin(v) {
		return nil, nil
	}
	r.refreshOwned(v)
	now := v.Clock.Now()
	if r.wakeDelayed(v, now); r.toConsider.Empty() { // as after most changes
		return nil, nil
	}
	round := &Round{
		id: rand.Text()[:12], now: now, request: r.requests(v), refuse: v.Refuses, noted: r.toConsider.Take(v.State.Total()),
	}
	for _, n := range round.noted {
		if v.Owns(n) {
			r.consider(v, round, n)
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
	return round, round.batch
}

// Committed goes on with a round when its proposals have been committed.
func (r *Rounds) Committed(v room.View, round *Round) {
	r.ports.Admission().Confirmed(r, round.admitted, round.handed, round.answered, time.Now())
	r.ports.Load().Begin(len(round.begun))
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
	return !v.Blind && v.Usable && !v.Out && v.Known && v.ServerEnabled() && v.State.Total() == v.Config.ShardingTotalCount
}

// consider decides what happens to one of my items now.
func (r *Rounds) consider(v room.View, round *Round, n int) {
	it, node := r.item(n), v.State.Item(n)
	r.rouse(it)
	m := v.Rules
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
	r.expire(v, it, round.now, it.queued)
	if round.refuse {
		it.Due = m.Miss(it.Due)
	}
	if v.Config.Unmonitored {
		r.beginUnmonitored(v, round, it, node.Record.Value.Trigger)
		return
	}
	r.considerRecord(v, round, it, node)
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
		r.proposeClaim(v, round, it)
	default:
		r.considerDelay(v, it, node.Record.Value, round)
		r.missed.Recall(v, &it.Item, node, round.now)
		r.proposeBegin(v, round, it, node)
	}
}

// proposeBegin proposes to begin the fire that is on time, or else what is asked for by hand, or else a missed fire
// (T4).
func (r *Rounds) proposeBegin(v room.View, round *Round, it *item, node jobtree.Item) {
	horizon := v.Clock.Horizon()
	it.Due = it.Due.After(r.ranFor(it, node, horizon))
	begin, guards, turn, ok := r.choose(v, round, it, node)
	if !ok {
		return
	}
	begin.Instance, begin.Session, begin.Round, begin.Time = v.Instance, v.Attached.Session.ID(), round.id, round.now
	begin.Failover, begin.Horizon, begin.Base = v.Config.Failover, horizon, v.Tokens.Base
	record, err := node.Record.Value.Begin(begin)
	if err != nil {
		r.cannotBegin(v, it, begin, err)
		return
	}
	under := v.Attached
	round.newest.Note(record)
	madeUp := makesUp(node, record)
	txn := r.beginTxn(v, it, node, record, madeUp, guards)
	txn.Turn = turn
	round.late = round.late || turn.Rank == registry.RankBacklog
	round.use(it)
	if round.batch == nil { // as a rule all that are looked at begin, or none
		round.batch = make(room.Batch, 0, min(len(round.noted), roomAtFirst))
	}
	round.batch = append(round.batch, room.Proposal{Step: "begin", Txn: txn, Noted: true, Done: func(o registry.Outcome) {
		round.answered = true
		r.began(v, round, it, under, record, o.Revision)
		it.ForgetFormer()
		it.running.MadeUp = madeUp
		if !it.running.Undo && begin.Source != job.Manual {
			it.Due = it.Due.After(begin.Fire)
		}
	}, Dropped: func() { r.notSent(v, it) }})
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
	case (!asked || !it.standsBack(v)) && !it.Due.None() && !round.refuse && !r.notYet(v, it, round.now) && !r.missed.Awaits(v, &it.Item, node, round.now):
		turn, ok = r.admit(v, round, it)
		begin.Fire, begin.Source = it.Due.Next()
		return begin, nil, turn, ok
	case !asked:
		if round.refuse && !it.Due.None() {
			r.retryLater(v, it)
		}
		return begin, nil, turn, false
	}
	begin.Source, begin.Trigger = job.Manual, request.Revision
	begin.Fire, begin.Parameter = request.Fire, request.Parameter
	turn = registry.Turn{Rank: registry.RankWork, Share: r.ports.Job()}
	if !request.Until.IsZero() {
		turn.Until = time.Now().Add(request.Until.Sub(round.now)) // by the monotonic clock
	}
	return begin, request.Guards, turn, true
}

// roomAtFirst bounds for how many begins there is room before the first is proposed.
const roomAtFirst = 64

// standsBack tells whether what is due of the item lets a request by hand go first: a missed fire, and one that comes
// some time after the last run. If runs take longer than the time between fires, there is always one of these.
func (it *item) standsBack(v room.View) bool {
	_, source := it.Due.Next()
	return source == job.Misfire || v.Rules.Delay != 0
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

// cannotBegin deals with a begin that the item's record does not allow. A fire that lies ahead of the
// registry's clock stays due until the clocks agree; that one may have drifted since it was read.
func (r *Rounds) cannotBegin(v room.View, it *item, begin jobtree.Begin, err error) {
	if !errors.Is(err, jobtree.ErrFireAhead) {
		r.ports.Log().ErrorContext(r.ports.Life(), "cannot begin", room.KeyItem, it.number, room.KeyError, err)
		if begin.Source == job.Manual {
			it.triggered = begin.Trigger // as impossible later on
		} else {
			it.Due = it.Due.DropImpossible(begin.Fire)
		}
		return
	}
	r.ports.AskClock(fires.ClockEvery, nil)
	r.retryLater(v, it)
	r.ports.FireAhead(it.number, err)
}

// beginTxn is the transaction of a begin (T4). guards are those of a request by hand.
func (r *Rounds) beginTxn(v room.View, it *item, node jobtree.Item, record jobtree.Record, madeUp bool, guards []registry.Condition) registry.Txn {
	n := it.number
	path := v.Tree.ItemRecord(n)
	conditions := make([]registry.Condition, 0, 8+len(guards))
	conditions = append(append(append(conditions, v.State.OwnerGuards(n)...), guards...),
		registry.Unchanged(path, node.Record.Revision),
		registry.Absent(v.Tree.ItemDisabled(n)),
		registry.Unchanged(v.Tree.Config(), v.State.Config.Revision),
		v.Mine(),
	)
	conditions = append(conditions, r.ports.Peers().Beginning(v)...)
	unmarked, mark := v.State.MarkRunning(n, v.Instance, v.Attached.Session)
	conditions = append(conditions, unmarked)
	writes := append(make([]registry.Write, 0, 3), mark, registry.Overwrite(path, jobtree.EncodeRecord(record)))
	if madeUp {
		writes = append(writes, registry.Delete(v.Tree.ItemMisfire(n)))
	}
	if madeUp || it.MayBeTold() { // what its former owner notes now must be seen
		conditions = append(conditions, registry.Unchanged(v.Tree.ItemMisfire(n), node.Misfire.Revision))
	}
	// A wish of others, for an item that does not wait here, is for them to grant.
	if node.FailoverItem != 0 && (!r.ports.Others().OwnWishes || node.Record.Value.State == jobtree.ItemWaiting) {
		writes = append(writes, registry.Delete(v.Tree.FailoverItem(n)))
	}
	// An item's first begin creates its record, which is removed with the job, or when the
	// configuration has fewer items.
	return registry.Txn{If: conditions, Then: writes, Repeat: registry.RepeatCreation}
}

// makesUp tells whether a begin runs for all that is noted as missed of an item.
func makesUp(node jobtree.Item, record jobtree.Record) bool {
	return node.Misfire.Exists() && !node.Misfire.Value.Newest().After(record.LastFire)
}

// began takes note of a begin that the registry has confirmed, for [Rounds.runRound] to run the item.
// One that is confirmed too late to be on time runs as a missed one, if missed ones are run; else the
// execution is ended as never started. What is due of the item then stays so, and the next decision
// judges it by the time at which it is made.
func (r *Rounds) began(v room.View, round *Round, it *item, under *room.Attachment, record jobtree.Record, token registry.Revision) {
	r.rouse(it)
	it.wrote = token
	wanted := v.Rules.StillWanted(&record, v.Clock.Now())
	it.running = r.newExecution(v, it, under, record, token)
	if !under.Connected() || v.Leaving || !v.Usable || !wanted {
		it.running.Undo = true
		r.executions.Returned(it.running, v.Clock.Now(), nil)
		return
	}
	round.begun = append(round.begun, it.running)
}

func (r *Rounds) newExecution(v room.View, it *item, under *room.Attachment, record jobtree.Record, token registry.Revision) *executions.Execution {
	public := int64(token)
	if token != 0 {
		public = v.Tokens.Of(token)
	}
	n, cfg, node := it.number, v.Config, v.State.Item(it.number)
	source := record.Current.Source
	return r.executions.New(v, &executions.Execution{
		// A request by hand may be answered already, and a fire that policy does not make up, or of which there is no record,
		// would be lost.
		Recalled: source == job.Failover || source != job.Manual && token != 0 && v.Rules.Recalls(record.Current.Fire, v.Clock.Now()),

		Item: n, Under: under, Record: record, Token: token, Began: record.Current.Begin, Due: &it.Due,
		Code: r.settings.Code, Limits: executions.LimitsOf(*cfg), Handler: r.settings.Handler,
		Context: job.ShardingContext{
			JobName:       r.ports.Job(),
			TaskID:        r.taskID(v),
			Item:          n,
			ItemParameter: r.settings.Parameters[n],
			TotalCount:    cfg.ShardingTotalCount,
			JobParameter:  cfg.JobParameter,
			Fire:          record.Current.Fire,
			Source:        record.Current.Source,
			Trigger:       int64(record.Current.Trigger),

			TriggerParameter: record.Current.Parameter,
			Token:            public,
			Offset:           node.Offset,
			Streaming:        cfg.StreamingProcess,
		},
	}, node)
}

// runRound runs what has begun, as a round, if anything has.
func (r *Rounds) runRound(v room.View, round *Round) {
	if len(round.begun) == 0 {
		return
	}
	r.holdBack(v, round.begun)
	r.executions.RunRound(v, round.id, r.taskID(v), round.now, round.begun)
}
