package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// latchWait bounds how long an election waits for its latch. The latch only spares the
// registry a crowd; what is safe is so by the transaction.
const latchWait = 2 * time.Second

// elect starts an election if the job has no leader and this instance may become one.
func (r *runner) elect() {
	if r.electing || r.state.Leader.Created != 0 || !r.mayLead() {
		return
	}
	r.electing = true
	attached, mine := r.attached, r.mine()
	server := registry.Unchanged(r.serverPath(), r.server().Revision)
	holdBack := r.look().HoldBack()
	r.s.work.Go(func() {
		revision, err := r.campaign(attached, holdBack, mine, server)
		r.box.Post(func() { r.elected(revision, err) })
	})
}

// mayLead tells whether this instance could do a leader's work.
func (r *runner) mayLead() bool {
	if !r.settings.ok || !r.serverEnabled() {
		return false
	}
	_, err := r.s.strategies.Lookup(r.settings.config.ShardingStrategy)
	return err == nil
}

// campaign makes this instance the leader if there is none (T2). It returns 0 and no error if
// another was faster.
func (r *runner) campaign(a *room.Attachment, holdBack time.Duration, guards ...registry.Condition) (registry.Revision, error) {
	ctx, cancel := context.WithTimeout(a.Ctx, holdBack)
	defer cancel()
	view := r.presentView()
	if _, err := view.WaitFor(ctx, r.hasLeader); err == nil {
		return 0, nil
	}
	txn := registry.Txn{
		If:   append(guards, registry.Absent(r.tree.Leader())),
		Then: []registry.Write{registry.PutOwned(r.tree.Leader(), r.s.instance, a.Session)},
		// Who finds itself the leader leads, whenever it was elected, or resigns.
		Repeat: registry.RepeatOwned,
	}
	var revision registry.Revision
	commit := func() (err error) { // its answer may take longer than the latch
		if r.hasLeader(view.Snapshot()) {
			return nil
		}
		revision, err = r.s.registry.Commit(a.Ctx, txn)
		return err
	}
	latchCtx, cancelLatch := context.WithTimeout(a.Ctx, latchWait)
	defer cancelLatch()
	err := r.s.registry.Latch(latchCtx, r.tree.ElectionLatch(), func(context.Context) error { return commit() })
	if errors.Is(err, registry.ErrUnavailable) && a.Ctx.Err() == nil {
		err = commit()
	}
	return revision, err
}

func (r *runner) hasLeader(s registry.Snapshot) bool { return s.Get(r.tree.Leader()).Exists() }

// elected takes note of how an election ended. What it brought about, the view shows.
func (r *runner) elected(revision registry.Revision, err error) {
	if err != nil && r.attached != nil && !errors.Is(err, registry.ErrConflict) {
		// Still electing: the decision that follows this message would ask again at once.
		r.refused("elect", err)
		time.AfterFunc(retryAfter, func() { r.box.Post(func() { r.electing = false }) })
		return
	}
	r.electing = false
	if err != nil && r.attached != nil {
		r.refused("elect", err)
		return
	}
	if revision != 0 {
		r.committed(revision)
	}
}
