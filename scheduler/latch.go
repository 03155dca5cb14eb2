package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// latchWait bounds how long an election or a claim waits for its latch.
const latchWait = 2 * time.Second

// latched commits inside a latch, which only spares the registry a crowd, and without it if the latch is not to be
// had. The context that commit gets is the latch's: it has all the time that
// the caller's leaves, however long the latch took.
func (s *Scheduler) latched(ctx context.Context, latch string, commit func(context.Context) error) error {
	waiting, cancel := context.WithCancel(ctx)
	defer cancel()
	enough := time.AfterFunc(latchWait, cancel)
	defer enough.Stop()
	err := s.registry.Latch(waiting, latch, func(ctx context.Context) error {
		if !enough.Stop() {
			return registry.ErrUnavailable // it was had in the moment in which it was given up
		}
		defer enough.Reset(latchWait) // to let go of it may take as long
		return commit(ctx)
	})
	if errors.Is(err, registry.ErrUnavailable) && ctx.Err() == nil {
		err = commit(ctx)
	}
	return err
}

// inLatch commits a transaction inside a latch, and tells how that went.
func (r *runner) inLatch(latch string, under *room.Attachment, txn registry.Txn, settled func(registry.Revision, error)) {
	r.s.work.Go(func() {
		var revision registry.Revision
		err := r.s.latched(under.Ctx, latch, func(ctx context.Context) (err error) {
			revision, err = r.s.registry.Commit(ctx, txn)
			return err
		})
		r.box.Post(func() { settled(revision, err) })
	})
}
