package rounds

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// ClaimAbandoned claims lost executions of items that may be another's, as far as the others make it necessary.
func (r *Rounds) ClaimAbandoned(v room.View, id func() string) {
	for n := range r.ports.Peers.Claims(v, func(n int) bool { return r.claimIsFutile(v, n) }) {
		r.proposeClaim(v, &Round{id: id(), now: v.Clock.Now()}, &item{number: n})
	}
}

// claimIsFutile tells whether an item cannot be claimed now: something of it runs here, or may, or another claim
// is under way. When that claim is over, this item is considered again.
func (r *Rounds) claimIsFutile(v room.View, n int) bool {
	it := r.items[n]
	return r.claiming || it != nil && (it.running != nil || v.Applied < it.wrote)
}

// claimInLatch commits a claim inside the latch in which others claim, too. One claim at a time is under way.
func (r *Rounds) claimInLatch(v room.View, latch string, it *item, txn registry.Txn, record jobtree.Record, id string) {
	if r.claiming {
		return // when that claim is over, the item is considered again
	}
	r.claiming, r.claimingOf = true, it.number
	under := v.Attached
	r.ports.InLatch(latch, under, txn, func(revision registry.Revision, err error) {
		r.claimed(it.number, under, record, id, revision, err)
	})
}

// claimed takes in how a claim ended.
func (r *Rounds) claimed(n int, under *room.Attachment, record jobtree.Record, id string, revision registry.Revision, err error) {
	r.claiming = false
	r.toConsider.Note(nil, true)
	r.ports.ClaimOver(n, err)
	if err != nil {
		return
	}
	v := r.ports.Look()
	it := r.item(n) // it may have been released meanwhile
	round := &Round{id: id, now: record.Current.Begin}
	r.ports.Log.InfoContext(r.ports.Life(), "running a lost execution again", room.KeyItem, it.number, room.KeyFire, record.Current.Fire)
	r.began(v, round, it, under, record, revision)
	r.runRound(v, round)
}
