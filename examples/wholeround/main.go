// Command wholeround shows hooks that run once for a whole round, though its items run on three instances:
// before the first item, and after the last. The three share an in-memory registry, as three processes
// share an etcd. It ends after two rounds.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

func main() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	server := memory.NewServer()
	var rounds atomic.Int32
	var instances sync.WaitGroup
	faults := make(chan error, 3) // one for each instance
	for n := range 3 {
		instances.Go(func() {
			faults <- instance(ctx, server, n, func() {
				if rounds.Add(1) == 2 {
					stop()
				}
			})
		})
	}
	instances.Wait()
	if err := errors.Join(<-faults, <-faults, <-faults); err != nil {
		log.Fatal(err)
	}
	if rounds.Load() < 2 {
		log.Fatal("two rounds were expected within a minute")
	}
}

// instance takes part in the job until ctx ends. completed is called once for each round, by one of
// the instances.
func instance(ctx context.Context, server *memory.Server, n int, completed func()) error {
	reg := server.Open("example")
	s, err := scheduler.New(reg)
	if err != nil {
		return err
	}
	hooks := job.WholeRoundListener{
		AllStarted: func(_ context.Context, round job.WholeRound) error {
			fmt.Printf("instance %d: all of items %v have started\n", n, round.Items)
			return nil
		},
		StartedWithin: 10 * time.Second,
		AllCompleted: func(_ context.Context, round job.WholeRound) error {
			fmt.Printf("instance %d: all have completed, failed %v\n", n, round.Failed)
			completed()
			return nil
		},
		CompletedWithin: 30 * time.Second,
	}
	work := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		fmt.Printf("instance %d: item %d\n", n, sc.Item)
		return nil
	})
	if _, err := s.Add(ctx, job.Config{Name: "orders", Cron: "@every 1s", ShardingTotalCount: 6}, work, scheduler.WithWholeRoundListener(hooks)); err != nil {
		return err
	}
	return errors.Join(s.Run(ctx), reg.Close(context.WithoutCancel(ctx)))
}
