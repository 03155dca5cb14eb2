package scheduler_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// A process that has code for a class takes part in every job of that class, whoever writes it.
func ExampleWithHandler() {
	index := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		fmt.Printf("%s: item %d\n", sc.JobName, sc.Item)
		return nil
	})
	reg := memory.NewServer().Open("shop")
	s, err := scheduler.New(reg, scheduler.WithHandler("index", index))
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// A deployment that must not start with other settings than those that run says so.
func ExampleOnConflict() {
	ctx := context.Background()
	reg := memory.NewServer().Open("shop")
	defer reg.Close(ctx)
	work := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	for _, total := range []int{3, 5} {
		s, err := scheduler.New(reg)
		if err != nil {
			log.Fatal(err)
		}
		_, err = s.Add(ctx, job.Config{Name: "orders", Cron: "@hourly", ShardingTotalCount: total}, work, scheduler.OnConflict(scheduler.RefuseConflict))
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// declare job "orders": job "orders" is stored with another configuration, which differs in ShardingTotalCount (shardingTotalCount: stored 3, declared 5); declare the same, or say by OnConflict who wins
}

// Code that runs before and after each round of this instance, such as to open and close a connection.
func ExampleWithListener() {
	reg := memory.NewServer().Open("shop")
	s, err := scheduler.New(reg)
	if err != nil {
		log.Fatal(err)
	}
	work := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	_, err = s.Add(context.Background(), job.Config{Name: "orders", Cron: "@hourly", ShardingTotalCount: 3}, work, scheduler.WithListener(job.ListenerFuncs{
		Before: func(_ context.Context, round job.Round) error {
			fmt.Println("items", round.Items)
			return nil
		},
		After: func(_ context.Context, _ job.Round, results []job.ItemResult) error {
			fmt.Println("ended", len(results))
			return nil
		},
	}))
	if err != nil {
		log.Fatal(err)
	}
}

// A hook that runs on exactly one instance when all items of a fire have completed, wherever they ran.
func ExampleWithWholeRoundListener() {
	reg := memory.NewServer().Open("shop")
	s, err := scheduler.New(reg)
	if err != nil {
		log.Fatal(err)
	}
	work := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	_, err = s.Add(context.Background(), job.Config{Name: "orders", Cron: "@hourly", ShardingTotalCount: 3}, work, scheduler.WithWholeRoundListener(job.WholeRoundListener{
		AllCompleted: func(_ context.Context, round job.WholeRound) error {
			fmt.Println("failed items", round.Failed)
			return nil
		},
		CompletedWithin: 10 * time.Minute,
	}))
	if err != nil {
		log.Fatal(err)
	}
}
