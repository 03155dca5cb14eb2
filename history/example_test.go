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
