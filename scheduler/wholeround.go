package scheduler

import (
	"context"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/wholeround"
)

// newWholeRounds makes the room of a job's hooks for whole rounds; nil if it has none.
func (r *runner) newWholeRounds(p ports) *wholeround.Rounds {
	return wholeround.New(r.declared.hooks, wholeround.Ports{
		Ports: p,
		Call: func(ctx context.Context, limit time.Duration, hook func(context.Context) error) error {
			if limit == 0 {
				limit = r.s.listenerTimeout
			}
			return r.s.listeners.Try(ctx, notify.Listener{Job: r.name, Kind: ListenerHook}, limit, hook)
		},
		BarrierSettled: r.reportBarrier,
	})
}

// mindBarriers does what the barriers of whole rounds ask of this instance now.
func (r *runner) mindBarriers() {
	if r.hooks == nil {
		return
	}
	for _, phase := range r.hooks.Phases() {
		r.commit(r.hooks.SettleHook(r.look(), phase))
		if r.attached.Connected() && r.applied >= r.needed && r.settings.OK && wholeround.Together(r.settings.Config, &r.settings.Rules) {
			r.commit(r.hooks.Decide(r.look(), phase))
		}
	}
	if r.attached.Connected() {
		r.hooks.Release(r.look())
		if r.applied >= r.needed {
			r.hooks.GiveBack(r.look())
		}
	}
}

// mindBarriersBlind is mindBarriers without a view. It records how a hook ended that ran here, and lets go on what has
// waited for a hook for long enough: what the state showed last can only keep it for longer. Before others get the job's
// items, they get those that still wait.
func (r *runner) mindBarriersBlind(leaves bool) {
	needed := r.needed // a barrier is nothing that this instance holds
	for _, phase := range r.hooks.Phases() {
		r.commit(r.hooks.SettleHook(r.look(), phase))
	}
	r.needed = needed
	if !r.attached.Connected() {
		return
	}
	r.hooks.Release(r.look())
	if leaves {
		r.hooks.GiveBack(r.look())
	}
}

func (r *runner) reportBarrier(p jobtree.Phase, settled jobtree.Barrier, hook error) {
	key := settled.Key()
	attrs := []any{"phase", p.String(), logFire, room.FireOf(key.Fire), "outcome", string(settled.Outcome)}
	level := slog.LevelDebug
	if settled.Outcome != jobtree.BarrierSuccess {
		level = slog.LevelWarn
	}
	if hook != nil {
		level, attrs = slog.LevelError, append(attrs, logError, hook)
	}
	r.log.Log(r.life, level, "barrier settled", attrs...)
	r.s.observer.observe(WholeRoundEvent{
		Job: r.name, Phase: p.String(), Fire: key.Fire, Trigger: int64(key.Trigger), Outcome: string(settled.Outcome),
		Err: hook, Opened: settled.Opened, Ended: settled.Ended,
	})
}
