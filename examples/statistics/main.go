// Command statistics runs a job for two seconds over an in-memory registry, prints the numbers of its
// items and of this server, and ends.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"os"
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
	s, err := scheduler.New(reg)
	if err != nil {
		return err
	}
	work := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		if sc.Item == 1 {
			return errors.New("out of stock")
		}
		return nil
	})
	orders, err := s.Add(ctx, job.Config{Name: "orders", Cron: "@every 1s", ShardingTotalCount: 2}, work)
	if err != nil {
		return err
	}
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	time.Sleep(2500 * time.Millisecond)
	numbers, err := orders.Statistics(ctx)
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", "  ")
	err = out.Encode(numbers)
	stop()
	return errors.Join(err, <-ran, reg.Close(context.Background()))
}
