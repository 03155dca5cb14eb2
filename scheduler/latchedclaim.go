package scheduler

import (
	"context"
	"errors"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// claimInLatch commits a claim inside the latch in which others claim, too. One claim at a time is under way.
func (r *runner) claimInLatch(latch string, it *item, txn registry.Txn, record jobtree.Record, id string) {
	if r.claiming {
		return // what comes of that one has this one considered again
	}
	r.claiming, r.claimingOf = true, it.number
	under := r.attached
	r.s.work.Go(func() {
		var revision registry.Revision
		commit := func(ctx context.Context) (err error) {
			revision, err = r.s.registry.Commit(ctx, txn)
			return err
		}
		ctx, cancel := context.WithTimeout(under.Ctx, latchWait)
		defer cancel()
		err := r.s.registry.Latch(ctx, latch, commit)
		if errors.Is(err, registry.ErrUnavailable) && under.Ctx.Err() == nil {
			err = commit(under.Ctx)
		}
		r.box.Post(func() { r.claimed(it, under, record, id, revision, err) })
	})
}

func (r *runner) claimed(it *item, under *room.Attachment, record jobtree.Record, id string, revision registry.Revision, err error) {
	r.claiming = false
	r.mending.Unexplained([]int{it.number}, false)
	r.toConsider.Note(nil, true)
	if err != nil {
		if r.attached != nil {
			r.refused("claim", err)
		}
		return
	}
	it = r.item(it.number) // it may have been released meanwhile
	round := round{id: id, now: record.Current.Begin}
	r.log.InfoContext(r.life, "running a lost execution again", logItem, it.number, logFire, record.Current.Fire)
	r.began(&round, it, under, record, revision)
	r.runRound(&round)
}
