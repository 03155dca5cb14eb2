package rounds

import (
	"errors"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// proposeBegin proposes to begin the fire that is on time, or else what is asked for by hand, or else a missed fire
// (T4).
func (r *Rounds) proposeBegin(v room.View, round *Round, it *item, node jobtree.Item) {
	horizon := v.Clock.Horizon()
	ran := r.ranFor(it, node, horizon)
	it.Due = it.Due.After(ran)
	if !it.early.After(ran) {
		it.early = time.Time{}
	}
	if r.isDenied(beginning, it.number, v.Tree.ItemRunning(it.number)) {
		return
	}
	if r.stride.full(round.begins) {
		r.leaveToNext(round, it)
		return
	}
	begin, guards, turn, ok := r.choose(v, round, it, node)
	if !ok {
		r.forget(v, round, it, node)
		return
	}
	begin.Instance, begin.Session, begin.Round, begin.Time = v.Instance, v.Attached.Session.ID(), round.id, round.now
	if begin.Source != job.Manual && v.ToCome(begin.Fire) > 0 {
		begin.Time = v.Rules.Told(begin.Fire) // when its code is called
	}
	begin.Failover, begin.Base = v.Config.Failover, v.Tokens.Base
	begin.Horizon, begin.Believe = v.Clock.Limit(), horizon.IsZero()
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
	round.begins++
	if round.batch == nil { // as a rule all that are looked at begin, or none
		round.batch = make(room.Batch, 0, min(len(round.noted), roomAtFirst))
	}
	round.batch = append(round.batch, room.Proposal{Step: beginning, Txn: txn, Noted: true, Done: func(o registry.Outcome) {
		round.answers.confirmed++
		r.began(v, round, it, under, record, o.Revision)
		it.ForgetFormer()
		it.running.MadeUp = madeUp
		if !it.running.Undo && begin.Source != job.Manual {
			it.Due = it.Due.After(begin.Fire)
		}
	}, Dropped: func() { r.notSent(v, it) }, Refused: round.refused})
}

// The steps by which the begin of an item is known, and a claim in a latch.
const (
	beginning = "begin"
	Claiming  = "claim"
)

// isDenied tells whether what writes a path first, of an item, is not to be proposed yet, as it was denied. Then the item is
// considered again when it may be.
func (r *Rounds) isDenied(step string, n int, path string) bool {
	left := r.ports.Held(step, path)
	if left > 0 {
		r.toConsider.Add(n)
		r.ports.Wake(left)
	}
	return left > 0
}

// roomAtFirst bounds for how many begins there is room before the first is proposed.
const roomAtFirst = 64

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
	r.ports.FireAhead(begin.Fire)
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
	if node.FailoverItem != 0 && (!r.ports.Traits().OwnWishes || node.Record.Value.State == jobtree.ItemWaiting) {
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
	if !under.Connected() || v.Leaving || r.settings.Code == nil || !wanted {
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
