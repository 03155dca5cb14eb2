package scheduler

import (
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/requests"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// begin starts what is due of my items: all in one request, each by itself.
func (r *runner) begin() {
	if !r.mayBegin() || !r.peers.MayBegin(r.look()) {
		return
	}
	r.refreshOwned()
	round := round{id: rand.Text()[:12], now: r.s.now(), request: requests.Newest(r.look(), r.s.traits), refuse: !r.membership.ClockAllows(r.look())}
	r.wakeDelayed(round.now)
	noted := slices.Sorted(r.toConsider.Take(r.state.Total()))
	for _, n := range noted {
		if r.owns(n) {
			r.consider(&round, n)
		}
	}
	r.openBarriers(&round)
	handed := time.Now()
	r.commitAll(round.batch)
	r.s.admission.confirmed(round.admitted, handed, time.Now())
	r.s.load.begin(len(round.begun))
	r.runRound(&round)
	for _, n := range noted {
		if it := r.items[n]; it != nil && it.blank() {
			delete(r.items, n)
		}
	}
	if len(r.items) == 0 {
		r.items = nil
	}
}

// mayBegin tells whether anything may begin here.
func (r *runner) mayBegin() bool {
	return r.blind.since == nil && r.settings.OK && !r.settings.AwaitsCode && !r.membership.Out() && r.tokensKnown() && r.serverEnabled() && r.state.Total() == r.settings.Config.ShardingTotalCount
}

// consider decides what happens to one of my items now.
func (r *runner) consider(round *round, n int) {
	it, node := r.item(n), r.state.Item(n)
	m := r.settings.Rules
	if node.Disabled {
		it.Due = it.Due.DropDisabled()
		return
	}
	if r.applied < it.wrote || it.running != nil && it.running.Undo {
		return // the state does not show yet what this runner wrote
	}
	if it.running != nil || node.Running.Exists() {
		it.Due = m.Miss(it.Due)
		it.ExpectOn()
		return
	}
	if r.peers.MaybeLost(n) {
		it.Due = m.Miss(it.Due) // so that its next fire does not bury it
		return
	}
	r.expire(it, round.now, it.queued)
	if round.refuse {
		it.Due = m.Miss(it.Due)
	}
	if r.settings.Config.Unmonitored {
		r.beginUnmonitored(round, it)
		return
	}
	r.considerRecord(round, it, node)
}

// considerRecord decides by the item's record. An execution that was lost comes first, so that the
// schedule never buries it and it never blocks the schedule for longer than it takes.
func (r *runner) considerRecord(round *round, it *item, node jobtree.Item) {
	if node.Record.Err != nil {
		it.Due = r.settings.Rules.Miss(it.Due)
		round.batch = append(round.batch, r.mending.SetAside(r.look(), node, round.now)...)
		return
	}
	switch {
	case node.Record.Value.State == jobtree.ItemRunning:
		it.Due = r.settings.Rules.Miss(it.Due)
		it.ExpectOn()
		lost, wait := r.lost.Is(r.look(), it.number, r.runningHere(it.number))
		if lost {
			round.batch = append(round.batch, r.lost.Declare(r.look(), it.number)...)
		}
		if wait {
			r.toConsider.Note([]int{it.number}, false)
		}
	case node.Record.Value.State == jobtree.ItemWaiting && r.settings.Config.Failover:
		it.Due = r.settings.Rules.Miss(it.Due)
		r.proposeClaim(round, it)
	default:
		r.considerDelay(it, node.Record.Value, round)
		r.missed.Recall(r.look(), &it.Item, node, round.now)
		r.proposeBegin(round, it, node)
	}
}

// proposeBegin proposes to begin the fire that is due, or else what is asked for by hand (T4).
func (r *runner) proposeBegin(round *round, it *item, node jobtree.Item) {
	begin := jobtree.Begin{
		Instance: r.s.instance, Session: r.attached.Session.ID(), Round: round.id, Time: round.now,
		Failover: r.settings.Config.Failover, Horizon: r.s.clock.Horizon(), Next: r.nextFire(round),
		Base: r.tokens().Base,
	}
	// What the record shows as run, another instance may have run.
	ran := node.Record.Value.LastFire
	if node.Record.Value.FireAhead(begin.Horizon) {
		if !ran.Equal(it.ignored) {
			it.ignored = ran
			r.log.ErrorContext(r.life, "ignoring the last fire of an item: a broken clock wrote it", logItem, it.number, logFire, ran)
		}
		ran = time.Time{}
	}
	it.Due = it.Due.After(ran)
	turn := registry.Turn{Rank: registry.RankWork, Share: r.name}
	switch {
	case !it.Due.None() && !round.refuse && !r.notYet(it, round.now) && !r.missed.Awaits(r.look(), &it.Item, node, round.now):
		var admitted bool
		if turn, admitted = r.admit(round, it); !admitted {
			return
		}
		begin.Fire, begin.Source = it.Due.Next()
	case round.request > node.Record.Value.Trigger:
		begin.Source, begin.Trigger = job.Manual, round.request
	default:
		return
	}
	record, err := node.Record.Value.Begin(begin)
	if err != nil {
		r.cannotBegin(it, begin.Fire, err)
		return
	}
	under := r.attached
	round.newest.Note(record)
	madeUp := makesUp(node, record)
	txn := r.beginTxn(it, node, record, madeUp)
	txn.Turn = turn
	round.use(it)
	round.batch = append(round.batch, room.Proposal{Step: "begin", Txn: txn, Noted: true, Done: func(o registry.Outcome) {
		r.began(round, it, under, record, o.Revision)
		it.Settled()
		it.running.MadeUp = madeUp
		if !it.running.Undo {
			it.Due = it.Due.After(begin.Fire)
		}
	}, Dropped: func() { r.notSent(it) }})
}

// notYet tells whether the time of what is due next is still to come: the clock that ticked it was ahead, and
// has been set back since.
func (r *runner) notYet(it *item, now time.Time) bool {
	fire, _ := it.Due.Next()
	left := fire.Sub(now)
	if left <= 0 {
		return false
	}
	r.toConsider.Note([]int{it.number}, false)
	r.alarm.Set(min(left+tickFirst, fires.WallCheck))
	return true
}

// tickFirst is how long a fire whose time has come is left to its tick.
const tickFirst = 10 * time.Millisecond

// cannotBegin deals with a begin that the item's record does not allow. A fire that lies ahead of the
// registry's clock stays due until the clocks agree; that one may have drifted since it was read.
func (r *runner) cannotBegin(it *item, fire time.Time, err error) {
	if !errors.Is(err, jobtree.ErrFireAhead) {
		r.log.ErrorContext(r.life, "cannot begin", logItem, it.number, logError, err)
		it.Due = it.Due.DropImpossible(fire)
		return
	}
	r.s.clock.Check(r.life, fires.ClockEvery)
	r.retryDelayed(it)
	r.membership.FireAhead(it.number, err)
}

// beginTxn is the transaction of a begin (T4).
func (r *runner) beginTxn(it *item, node jobtree.Item, record jobtree.Record, madeUp bool) registry.Txn {
	n := it.number
	conditions := append(r.state.OwnerGuards(n),
		registry.Unchanged(r.tree.ItemRecord(n), node.Record.Revision),
		registry.Absent(r.tree.ItemDisabled(n)),
		registry.Unchanged(r.tree.Config(), r.state.Config.Revision),
		r.look().Mine(),
	)
	conditions = append(conditions, r.peers.Beginning(r.look())...)
	writes := []registry.Write{
		registry.PutOwned(r.tree.ItemRunning(n), r.s.instance, r.attached.Session),
		registry.Put(r.tree.ItemRecord(n), jobtree.EncodeRecord(record)),
	}
	if madeUp {
		writes = append(writes, registry.Delete(r.tree.ItemMisfire(n)))
	}
	if madeUp || it.MayBeTold() { // what its former owner notes now must be seen
		conditions = append(conditions, registry.Unchanged(r.tree.ItemMisfire(n), node.Misfire.Revision))
	}
	// A wish of others, for an item that does not wait here, is for them to grant.
	if node.FailoverItem != 0 && (!r.s.traits.OwnWishes || node.Record.Value.State == jobtree.ItemWaiting) {
		writes = append(writes, registry.Delete(r.tree.FailoverItem(n)))
	}
	// An item's first begin creates its record, which is removed with the job, or when the
	// configuration has fewer items.
	return registry.Txn{If: conditions, Then: writes, Repeat: registry.RepeatCreation}
}

// makesUp tells whether a begin runs for all that is noted as missed of an item.
func makesUp(node jobtree.Item, record jobtree.Record) bool {
	return node.Misfire.Exists() && !node.Misfire.Value.Newest().After(record.LastFire)
}

// proposeClaim proposes to run a lost execution of a waiting item again (T7). The item's owner
// claims, and it alone: the leader has moved the items of the lost instance by the same rules as
// ever, so the claims are spread like the work, and nobody else spends a commit on them.
func (r *runner) proposeClaim(round *round, it *item) {
	if !failover.Claimable(r.state, it.number) {
		return
	}
	txn, record, err := failover.Claim(r.state, it.number, failover.Claimant{
		Instance: r.s.instance, Session: r.attached.Session, Round: round.id, Time: round.now, Base: r.tokens().Base,
	})
	if err != nil {
		r.log.ErrorContext(r.life, "cannot claim", logItem, it.number, logError, err)
		return
	}
	latch, guards := r.peers.Claiming(r.look())
	txn.If = append(txn.If, guards...)
	if latch != "" {
		r.claimInLatch(latch, it, txn, record, round.id)
		return
	}
	under := r.attached
	round.newest.Note(record)
	txn.Turn = registry.Turn{Rank: registry.RankWork, Share: r.name}
	round.batch = append(round.batch, room.Proposal{Step: "begin", Txn: txn, Noted: true, Done: func(o registry.Outcome) {
		r.log.InfoContext(r.life, "running a lost execution again", logItem, it.number, logFire, record.Current.Fire)
		r.began(round, it, under, record, o.Revision)
	}})
}

// beginUnmonitored runs what is due of a job that leaves no marks.
func (r *runner) beginUnmonitored(round *round, it *item) {
	current := jobtree.Execution{Begin: round.now, Round: round.id}
	switch {
	case !it.Due.None() && !round.refuse && !r.notYet(it, round.now):
		current.Fire, current.Source = it.Due.Next()
		it.Due = it.Due.After(current.Fire)
	case round.request > it.triggered:
		current.Source = job.Manual
		it.triggered = round.request
	default:
		return
	}
	it.running = r.newExecution(it.number, r.attached, jobtree.Record{Current: &current}, 0)
	round.begun = append(round.begun, it.running)
}

// began takes note of a begin that the registry has confirmed, for [runner.runRound] to run the item.
// One that is confirmed too late to be on time runs as a missed one, if missed ones are run; else the
// execution is ended as never started. What is due of the item then stays so, and the next decision
// judges it by the time at which it is made.
func (r *runner) began(round *round, it *item, under *room.Attachment, record jobtree.Record, token registry.Revision) {
	it.wrote = token
	wanted := r.settings.Rules.StillWanted(&record, r.s.now())
	it.running = r.newExecution(it.number, under, record, token)
	if !under.Connected() || r.leaving || !r.settings.OK || !wanted {
		it.running.Undo = true
		r.executions.Returned(it.running, r.s.now(), nil)
		return
	}
	round.begun = append(round.begun, it.running)
}

func (r *runner) newExecution(n int, under *room.Attachment, record jobtree.Record, token registry.Revision) *executions.Execution {
	public := int64(token)
	if token != 0 {
		public = r.tokens().Of(token)
	}
	cfg, node := r.settings.Config, r.state.Item(n)
	return r.executions.New(r.look(), &executions.Execution{
		Item: n, Under: under, Record: record, Token: token, Began: record.Current.Begin,
		Code: r.settings.Code, Limits: executions.LimitsOf(*cfg), Handler: r.settings.Handler,
		Context: job.ShardingContext{
			JobName:       r.name,
			TaskID:        r.task,
			Item:          n,
			ItemParameter: r.settings.Parameters[n],
			TotalCount:    cfg.ShardingTotalCount,
			JobParameter:  cfg.JobParameter,
			Fire:          record.Current.Fire,
			Source:        record.Current.Source,
			Token:         public,
			Offset:        node.Offset,
			Streaming:     cfg.StreamingProcess,
		},
	}, node)
}
