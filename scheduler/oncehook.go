package scheduler

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/internal/barrier"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// hookRun is a hook that this process has taken.
type hookRun struct {
	under    *room.Attachment
	barrier  jobtree.Barrier // as it was taken
	token    registry.Revision
	err      error
	returned bool
	retry    bool // to record the outcome, when the pause after a refusal is over
}

// takeHook takes the hook of a complete barrier, and runs it if that was granted.
func (r *runner) takeHook(g *gathering) {
	if g.run != nil || r.state.Barrier(g.phase).Hook.Exists() {
		return // of a session that is over, whose code has not returned; or a mark that is no hook's
	}
	b := r.state.Barrier(g.phase).Round.Value
	revision, err := r.s.registry.Commit(r.attached.Ctx, barrier.Take(r.state, g.phase, r.s.instance, r.attached.Session))
	if err != nil {
		r.overtakenOr("take a hook", err)
		return
	}
	r.committed(revision)
	b.Done = r.s.instance
	h := &hookRun{under: r.attached, barrier: b, token: revision}
	g.run = h
	r.listening++
	whole := job.WholeRound{
		JobName: r.name, Fire: b.Key().Fire, Trigger: int64(b.Key().Trigger),
		Items: b.Items, TotalCount: r.state.Total(), Token: r.tokens.now.Of(revision),
	}
	if g.phase == jobtree.PhaseCompleted {
		whole.Failed = barrier.Failed(r.state, g.phase)
	}
	limit := r.declared.once.HookTimeout
	if limit == 0 {
		limit = r.s.listenerTimeout
	}
	r.s.work.Go(func() {
		err := context.Cause(h.under.Work)
		if err == nil {
			err = r.s.listeners.Try(h.under.Work, notify.Listener{Job: r.name, Kind: ListenerHook}, limit, func(ctx context.Context) error {
				return g.hook(ctx, whole)
			})
		}
		r.box.Post(func() { h.err, h.returned = err, true })
	})
}

// settleHook records how a hook ended that ran here.
func (r *runner) settleHook(g *gathering) {
	h := g.run
	if h == nil || !h.returned || h.retry {
		return
	}
	settled := h.barrier.Settled(jobtree.BarrierSuccess, "", r.s.now())
	if h.err != nil {
		settled.Outcome = jobtree.BarrierFailure
	}
	if h.under.Session.State() == registry.SessionLost {
		settled.Outcome = jobtree.BarrierLost // and so others will record it
		r.endHook(g, settled)
		return
	}
	txn := barrier.Settle(r.tree, g.phase, h.barrier, h.token, h.err, r.s.now())
	revision, err := r.s.registry.Commit(h.under.Ctx, txn)
	if err != nil && !room.Final(err) && h.under.Ctx.Err() == nil {
		r.s.repeated(slog.LevelWarn, "outcome of a hook not recorded yet, will try again", r.name, err)
		h.retry = true
		time.AfterFunc(retryAfter, func() { r.box.Post(func() { h.retry = false }) })
		return
	}
	if errors.Is(err, registry.ErrSessionLost) {
		settled.Outcome = jobtree.BarrierLost
	}
	r.committed(revision)
	r.endHook(g, settled)
}

func (r *runner) endHook(g *gathering, settled jobtree.Barrier) {
	r.reportBarrier(g.phase, settled, g.run.err)
	g.run = nil
	r.listening--
}

// BarrierEvent tells how a barrier of a job with a [job.OnceListener] was settled. One process hears
// of each: the one that settled it.
type BarrierEvent struct {
	Job     string
	Phase   string // "started" or "completed"
	Fire    time.Time
	Trigger int64  // of a round that was asked for by hand
	Outcome string // "success", "failure", "timeout", "lost" or "replaced"
	Err     error  // of the hook
	Opened  time.Time
	Ended   time.Time
}

func (r *runner) reportBarrier(p jobtree.Phase, settled jobtree.Barrier, hook error) {
	key := settled.Key()
	attrs := []any{"phase", p.String(), logFire, key.Fire, "outcome", string(settled.Outcome)}
	level := slog.LevelDebug
	if settled.Outcome != jobtree.BarrierSuccess {
		level = slog.LevelWarn
	}
	if hook != nil {
		level, attrs = slog.LevelError, append(attrs, logError, hook)
	}
	r.log.Log(r.life, level, "barrier settled", attrs...)
	r.s.observer.observe(BarrierEvent{
		Job: r.name, Phase: p.String(), Fire: key.Fire, Trigger: int64(key.Trigger), Outcome: string(settled.Outcome),
		Err: hook, Opened: settled.Opened, Ended: settled.Ended,
	})
}
