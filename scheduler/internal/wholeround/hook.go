package wholeround

import (
	"context"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/internal/barrier"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
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

// takeHook proposes to take the hook of a complete barrier, and runs it if that is granted.
func (r *Rounds) takeHook(v room.View, g *phaseBarrier) room.Batch {
	if g.run != nil || v.State.Barrier(g.phase).Hook.Exists() {
		return nil // of a session that is over, whose code has not returned; or a mark that is no hook's
	}
	b := v.State.Barrier(g.phase).Round.Value
	whole := job.WholeRound{
		JobName: v.Job(), Fire: b.Key().Fire, Trigger: int64(b.Key().Trigger),
		Items: b.Items, TotalCount: v.State.Total(),
	}
	if g.phase == jobtree.PhaseCompleted {
		whole.Failed = barrier.Failed(v.State, g.phase)
	}
	txn := barrier.Take(v.State, g.phase, v.Instance, v.Attached.Session)
	return room.Batch{{Step: "take a hook", Alone: true, Txn: txn, Apart: true, Done: func(o registry.Outcome) {
		b.Done = v.Instance
		whole.Token = v.Tokens.Of(o.Revision)
		r.runHook(g, &hookRun{under: v.Attached, barrier: b, token: o.Revision}, whole)
	}}}
}

// runHook runs a hook that was granted.
func (r *Rounds) runHook(g *phaseBarrier, h *hookRun, whole job.WholeRound) {
	g.run = h
	r.ports.Work(func() {
		err := context.Cause(h.under.Work)
		if err == nil {
			err = r.ports.Call(h.under.Work, r.listener.HookTimeout, func(ctx context.Context) error { return g.hook(ctx, whole) })
		}
		r.ports.Post(func() { h.err, h.returned = err, true })
	})
}

// SettleHook proposes to record how a hook ended that ran here.
func (r *Rounds) SettleHook(v room.View, p jobtree.Phase) room.Batch {
	g := r.of(p)
	h := g.run
	if h == nil || !h.returned || h.retry {
		return nil
	}
	now := v.Clock.Now()
	settled := h.barrier.Settled(jobtree.BarrierSuccess, "", now)
	if h.err != nil {
		settled.Outcome = jobtree.BarrierFailure
	}
	if h.under.Session.State() == registry.SessionLost {
		g.run = nil // others record that it was lost, and tell of it
		return nil
	}
	return room.Batch{{
		Step: "settle a hook", Alone: true, Under: h.under, Txn: barrier.Settle(v.Tree, p, h.barrier, h.token, h.err, now),
		Done: func(registry.Outcome) {
			r.ports.BarrierSettled(g.phase, settled, h.err)
			if p == jobtree.PhaseStarted {
				r.freed(settled.Key()) // at once: without a view nothing would show it
			}
			g.run = nil
		},
		Refused: func(err error) bool {
			if !room.Final(err) && h.under.Ctx.Err() == nil {
				r.ports.Tell(slog.LevelWarn, "outcome of a hook not recorded yet, will try again", err)
				h.retry = true
				time.AfterFunc(room.RetryAfter, func() { r.ports.Post(func() { h.retry = false }) })
				return true
			}
			g.run = nil // whoever has taken the mark away, or takes it for lost, tells of it
			return true
		},
	}}
}
