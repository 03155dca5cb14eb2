package observe_test

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/tracing"
	"github.com/elasticron/elasticron/tracing/observe"
)

// The bus outlives the scheduler's Run, whose last items end while it stops.
func ExampleNew() {
	_ = func(ctx context.Context, reg registry.Registry) error {
		bus, err := tracing.NewBus(tracing.WithSink("log", tracing.NewLogSink(slog.Default())), tracing.WithLogger(slog.Default()))
		if err != nil {
			return err
		}
		s, err := scheduler.New(reg, scheduler.WithObserver(observe.New(bus)))
		if err != nil {
			return err
		}
		bus.Start()
		err = s.Run(ctx)
		flush, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		return errors.Join(err, bus.Close(flush))
	}
}
