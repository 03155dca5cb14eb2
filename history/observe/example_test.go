package observe_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/history/observe"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// The bus outlives the scheduler's Run, whose last items end while it stops.
func Example() {
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

// printer is a bus that prints what it gets.
type printer struct{}

func (printer) Post(e history.Event) {
	switch e := e.(type) {
	case history.Execution:
		fmt.Println("item", e.Item, "running:", e.Running(), "success:", e.Success)
	case history.Status:
		fmt.Println("round", e.State, e.ShardingItems)
	}
}

// The events of a round with one item.
func ExampleNew() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	reg := memory.NewServer().Open("shop")
	defer reg.Close(context.Background())
	s, err := scheduler.New(reg, scheduler.WithObserver(observe.New(printer{})))
	if err != nil {
		fmt.Println(err)
		return
	}
	code := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	orders, err := s.Add(ctx, job.Config{Name: "orders", Cron: "@triggered", ShardingTotalCount: 1}, code)
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	<-s.Ready()
	if request, err := orders.Trigger(ctx); err != nil {
		fmt.Println(err)
	} else if _, err := request.Wait(ctx); err != nil {
		fmt.Println(err)
	}
	stop()
	fmt.Println(<-ended)
	// Output:
	// round TASK_STAGING [0]
	// round TASK_RUNNING [0]
	// item 0 running: true success: false
	// item 0 running: false success: true
	// round TASK_FINISHED [0]
	// <nil>
}
