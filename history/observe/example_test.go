package observe_test

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/observe"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// The bus outlives the scheduler's Run, whose last items end while it stops.
func ExampleNew() {
	_ = func(ctx context.Context, reg registry.Registry) error {
		bus, err := history.NewBus(history.WithSink("log", history.NewLogSink(slog.Default())), history.WithLogger(slog.Default()))
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
