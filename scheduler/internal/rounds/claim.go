package rounds

import (
	"time"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/fires"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// proposeClaim proposes to run a lost execution of a waiting item again (T7). The item's owner
// claims, and it alone: the leader has moved the items of the lost instance by the same rules as
// ever, so the claims are spread like the work, and nobody else spends a commit on them.
func (r *Rounds) proposeClaim(v room.View, round *Round, it *item) {
	txn, record, latch, ok := r.claimTxn(v, it.number, round.id, round.now)
	switch {
	case !ok:
		return
	case r.isDenied(beginning, it.number, txn.Then[0].Path):
		return
	case latch != "":
		r.claimInLatch(v, latch, it.number, txn, record, round.id)
		return
	}
	under := v.Attached
	round.newest.Note(record)
	txn.Turn = registry.Turn{Rank: registry.RankWork, Share: r.ports.Job()}
	round.batch = append(round.batch, room.Proposal{Step: beginning, Txn: txn, Noted: true, Done: func(o registry.Outcome) {
		r.tellClaim(it.number, record)
		r.began(v, round, it, under, record, o.Revision)
	}})
}

// ClaimAbandoned claims lost executions of items that may be another's, as far as the others make it necessary. Where they
// do, they claim in a latch, too.
func (r *Rounds) ClaimAbandoned(v room.View) {
	if len(v.State.FailoverItems) == 0 || r.settings.AwaitsCode { // nobody wishes for a claimant, or nothing would run
		return
	}
	for n := range r.ports.Peers().Claims(v, func(n int) bool { return r.claimIsFutile(v, n) }) {
		round := newRoundID()
		if txn, record, latch, ok := r.claimTxn(v, n, round, v.Clock.Now()); ok {
			r.claimInLatch(v, latch, n, txn, record, round)
		}
	}
}

// claimTxn is the transaction of a claim, with what the others make it compare. latch is that in which they claim, too;
// empty = there is none. ok is false if there is nothing to claim.
func (r *Rounds) claimTxn(v room.View, n int, round string, now time.Time) (txn registry.Txn, record jobtree.Record, latch string, ok bool) {
	if !failover.Claimable(v.State, n) {
		return txn, record, "", false
	}
	txn, record, err := failover.Claim(v.State, n, failover.Claimant{
		Instance: v.Instance, Session: v.Attached.Session, Round: round, Time: now, Base: v.Tokens.Base,
	})
	if err != nil {
		r.ports.Log().ErrorContext(r.ports.Life(), "cannot claim", room.KeyItem, n, room.KeyError, err)
		return txn, record, "", false
	}
	latch, guards := r.ports.Peers().Claiming(v)
	txn.If = append(txn.If, guards...)
	return txn, record, latch, true
}

// claimIsFutile tells whether an item cannot be claimed now: something of it runs here, or may, or another claim
// is under way. When that claim is over, this item is considered again.
func (r *Rounds) claimIsFutile(v room.View, n int) bool {
	it := r.items[n]
	return r.claiming != noItem || it != nil && (it.running != nil || v.Applied < it.wrote)
}

// claimInLatch commits a claim inside the latch in which others claim, too. One claim at a time is under way.
func (r *Rounds) claimInLatch(v room.View, latch string, n int, txn registry.Txn, record jobtree.Record, id string) {
	path := txn.Then[0].Path
	if r.claiming != noItem || r.isDenied(Claiming, n, path) {
		return // when that claim is over, the item is considered again
	}
	r.claiming = n
	under := v.Attached
	r.ports.InLatch(latch, under, txn, func(revision registry.Revision, err error) {
		r.claimed(n, path, under, record, id, revision, err)
	})
}

// claimed takes in how a claim ended.
func (r *Rounds) claimed(n int, path string, under *room.Attachment, record jobtree.Record, id string, revision registry.Revision, err error) {
	r.claiming = noItem
	r.toConsider.AddAll()
	r.ports.ClaimOver(n, path, err)
	if err != nil {
		return
	}
	v := r.ports.Look()
	it := r.item(n) // it may have been released meanwhile
	round := &Round{id: id, now: record.Current.Begin}
	r.tellClaim(it.number, record)
	r.began(v, round, it, under, record, revision)
	r.runRound(v, round)
}

// tellClaim logs that an execution is run again, which a claim has begun by this record.
func (r *Rounds) tellClaim(n int, record jobtree.Record) {
	message := "running a lost execution again"
	if before, _ := record.Previous(); before.Yielded {
		message = "going on with an execution that made room"
	}
	r.ports.Log().InfoContext(r.ports.Life(), message, room.KeyItem, n, room.KeyFire, room.FireOf(record.Current.Fire))
}

// wayPatience bounds how long an execution that made room for a resharding waits for that.
const wayPatience = 30 * time.Second

// makesWay tells whether an execution that made room is not to be claimed yet, as the resharding is late that it made room for:
// then it goes on where its item is. Where no resharding comes at all, it goes on when that has taken long, for as long as what
// begins meanwhile runs before it is told to make room again.
func (r *Rounds) makesWay(it *item, record jobtree.Record, now time.Time) bool {
	if !record.MadeRoom() || !r.executions.ReshardingIsLate() {
		return false
	}
	since := now.Sub(record.Owed().End)
	if since.Abs() >= wayPatience {
		return false
	}
	r.toConsider.Add(it.number)
	r.ports.Wake(min(wayPatience-since, fires.WallCheck))
	return true
}
