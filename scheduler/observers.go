package scheduler

import (
	"context"
	"log/slog"

	"github.com/elasticron/elasticron/job"
)

// observers tells several observers of everything, and keeps the panic of one from the others and
// from the scheduler.
type observers struct {
	all []Observer
	log *slog.Logger
}

var _ Observer = observers{}

// guarded returns one observer that stands for all.
func guarded(all []Observer, log *slog.Logger) Observer {
	if len(all) == 0 {
		return NopObserver{}
	}
	return observers{all, log}
}

func (o observers) each(tell func(Observer)) {
	for _, one := range o.all {
		if err := job.Protect(func() error { tell(one); return nil }); err != nil {
			o.log.Error("observer panicked", logError, err)
		}
	}
}

// RoundBegan implements [Observer].
func (o observers) RoundBegan(e RoundEvent) { o.each(func(one Observer) { one.RoundBegan(e) }) }

// RoundEnded implements [Observer].
func (o observers) RoundEnded(e RoundEvent) { o.each(func(one Observer) { one.RoundEnded(e) }) }

// ItemStarted implements [Observer].
func (o observers) ItemStarted(e ItemEvent) { o.each(func(one Observer) { one.ItemStarted(e) }) }

// ItemRetrying implements [Observer].
func (o observers) ItemRetrying(e RetryEvent) { o.each(func(one Observer) { one.ItemRetrying(e) }) }

// ItemEnded implements [Observer].
func (o observers) ItemEnded(e ItemEvent) { o.each(func(one Observer) { one.ItemEnded(e) }) }

// ItemsWaiting implements [Observer].
func (o observers) ItemsWaiting(e WaitingEvent) { o.each(func(one Observer) { one.ItemsWaiting(e) }) }

// HandlerFailed implements [Observer].
func (o observers) HandlerFailed(e HandlerEvent) { o.each(func(one Observer) { one.HandlerFailed(e) }) }

// ViewChanged implements [Observer].
func (o observers) ViewChanged(e ViewEvent) { o.each(func(one Observer) { one.ViewChanged(e) }) }

// Joined implements [Observer].
func (o observers) Joined(job string) { o.each(func(one Observer) { one.Joined(job) }) }

// Elected implements [Observer].
func (o observers) Elected(job string) { o.each(func(one Observer) { one.Elected(job) }) }

// Resigned implements [Observer].
func (o observers) Resigned(job string) { o.each(func(one Observer) { one.Resigned(job) }) }

// JobPaused implements [Observer].
func (o observers) JobPaused(e PauseEvent) { o.each(func(one Observer) { one.JobPaused(e) }) }

// Resharded implements [Observer].
func (o observers) Resharded(e ReshardEvent) { o.each(func(one Observer) { one.Resharded(e) }) }

// ConnectionChanged implements [Observer].
func (o observers) ConnectionChanged(e ConnectionEvent) {
	o.each(func(one Observer) { one.ConnectionChanged(e) })
}

// BarrierSettled implements [Observer].
func (o observers) BarrierSettled(e BarrierEvent) {
	o.each(func(one Observer) { one.BarrierSettled(e) })
}

// LoadChanged implements [Observer].
func (o observers) LoadChanged(e LoadEvent) { o.each(func(one Observer) { one.LoadChanged(e) }) }

// ListenerFailed implements [Observer].
func (o observers) ListenerFailed(e ListenerEvent) {
	o.each(func(one Observer) { one.ListenerFailed(e) })
}

// ItemContext implements [ItemContext].
func (o observers) ItemContext(ctx context.Context, e ItemEvent) context.Context {
	o.each(func(one Observer) {
		if carrier, ok := one.(ItemContext); ok {
			ctx = carrier.ItemContext(ctx, e)
		}
	})
	return ctx
}

// itemContext returns what the context of an item's code is to be.
func itemContext(ctx context.Context, o Observer, e ItemEvent) context.Context {
	if carrier, ok := o.(ItemContext); ok {
		return carrier.ItemContext(ctx, e)
	}
	return ctx
}
