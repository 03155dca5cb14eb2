// Command schedules shows jobs that no cron expression describes: one with a fixed delay after each run,
// one that runs only when it is triggered, and one whose fires are spread and come to an end. It runs for
// some seconds over an in-memory registry and ends.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/elasticron/elasticron/cronexpr"
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
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
	defer stop()
	reg := memory.NewServer().Open("example")
	s, err := scheduler.New(reg)
	if err != nil {
		return err
	}
	began := time.Now()
	tell := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		fmt.Printf("%4d ms: %s runs, %s\n", time.Since(began).Milliseconds(), sc.JobName, sc.Source)
		time.Sleep(200 * time.Millisecond)
		return nil
	})

	// A second after its last run was over, whoever ran it.
	poll := job.Config{Name: "poll", Cron: "@delay 1s", ShardingTotalCount: 1}

	// Only when somebody asks for it.
	report := job.Config{Name: "report", Cron: cronexpr.Triggered, ShardingTotalCount: 1}

	// Each fire up to a second late, and none later than three seconds from now.
	sync := job.Config{
		Name:               "sync",
		Cron:               "@every 1s",
		ShardingTotalCount: 1,
		Jitter:             time.Second,
		EndTime:            began.Add(3 * time.Second),
	}

	var reports *scheduler.Job
	for _, cfg := range []job.Config{poll, sync, report} {
		if reports, err = s.Add(ctx, cfg, tell); err != nil {
			return err
		}
	}
	time.AfterFunc(2*time.Second, func() {
		if _, err := reports.Trigger(ctx); err != nil {
			log.Print(err)
		}
	})
	return errors.Join(s.Run(ctx), reg.Close(context.Background()))
}
