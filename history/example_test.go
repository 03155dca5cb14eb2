package history_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/job"
)

// Package observe posts the events of a scheduler. Here they are made by hand.
func ExampleBus() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Key == "id" {
				return slog.Attr{}
			}
			return a
		},
	}))
	bus, err := history.NewBus(history.WithSink("log", history.NewLogSink(logger)))
	if err != nil {
		fmt.Println(err)
		return
	}
	bus.Start()

	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	start := history.Started("host-1", "R1", job.ShardingContext{
		JobName: "orders", TaskID: "orders@-@0@-@READY@-@10.0.0.1@-@42", Source: job.Scheduled, Fire: at, Token: 7,
	}, at)
	bus.Post(start)
	bus.Post(start.Ended(at.Add(time.Second), errors.New("out of stock"), nil))

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := bus.Close(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// level=WARN msg="item failed" at=2026-03-01T10:00:01.000Z round=R1 job=orders item=0 source=scheduled hostname=host-1 ip=10.0.0.1 fire=2026-03-01T10:00:00.000Z token=7 duration=1s cause="out of stock"
}

// alarm is a sink that tells of failures. It keeps nothing, so it does not mind if it gets an event twice.
type alarm struct{}

func (alarm) Write(_ context.Context, events []history.Event) error {
	for _, e := range events {
		if e, is := e.(history.Execution); is && !e.Running() && !e.Success {
			fmt.Printf("%s, item %d: %s\n", e.Job, e.Item, e.FailureCause)
		}
	}
	return nil // an error would mean: give me the same events again
}

// A sink of your own, with a small buffer. The numbers tell whether any event was lost.
func ExampleSink() {
	bus, err := history.NewBus(history.WithSink("alarm", alarm{}, history.WithBuffer(1000), history.WithLinger(0)))
	if err != nil {
		fmt.Println(err)
		return
	}
	bus.Start()
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	start := history.Started("host-1", "R1", job.ShardingContext{JobName: "orders", Item: 2}, at)
	bus.Post(start)
	bus.Post(start.Ended(at.Add(time.Second), errors.New("out of stock"), nil))

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	fmt.Println(bus.Close(ctx))
	for _, s := range bus.Stats() {
		fmt.Println(s.Sink, "got", s.Delivered, "and lost", s.Dropped+s.Rejected+s.Lost)
	}
	// Output:
	// orders, item 2: out of stock
	// <nil>
	// alarm got 2 and lost 0
}
