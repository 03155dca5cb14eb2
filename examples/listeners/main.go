// Command listeners shows the listeners of a job and of a process: before and after each round, to the
// session, and to leaderships. It runs two rounds over an in-memory registry and ends.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	reg := memory.NewServer().Open("example")
	s, err := scheduler.New(reg,
		scheduler.WithConnectionListener(func(_ context.Context, e scheduler.ConnectionEvent) error {
			fmt.Println("session", e.Change)
			return nil
		}),
		scheduler.WithLeadershipListener(func(_ context.Context, e scheduler.LeadershipEvent) error {
			fmt.Println("leads", e.Job, e.Leading)
			return nil
		}))
	if err != nil {
		return err
	}
	rounds := 0
	listener := job.ListenerFuncs{
		Before: func(_ context.Context, round job.Round) error {
			fmt.Printf("before a round of %d items\n", len(round.Items))
			return nil
		},
		After: func(_ context.Context, _ job.Round, results []job.ItemResult) error {
			for _, r := range results {
				fmt.Printf("after it: item %d took %s, error %v\n", r.Context.Item, r.Ended.Sub(r.Began).Round(time.Millisecond), r.Err)
			}
			if rounds++; rounds == 2 {
				stop()
			}
			return nil
		},
	}
	work := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	if _, err := s.Add(ctx, job.Config{Name: "orders", Cron: "@every 1s", ShardingTotalCount: 2}, work, scheduler.WithListener(listener)); err != nil {
		return err
	}
	return errors.Join(s.Run(ctx), reg.Close(context.Background()))
}
