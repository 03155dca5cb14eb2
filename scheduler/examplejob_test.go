package scheduler_test

import (
	"context"
	"fmt"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// The handle of a job: run it by hand and wait for the outcome, change it for all processes, leave it.
func ExampleJob() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	reg := memory.NewServer().Open("example")
	defer reg.Close(context.Background())
	s, err := scheduler.New(reg)
	if err != nil {
		fmt.Println(err)
		return
	}
	reports, err := s.Add(ctx, job.Config{Name: "reports", Cron: "@triggered", ShardingTotalCount: 2},
		job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
	if err != nil {
		fmt.Println(err)
		return
	}
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	<-s.Ready()

	request, err := reports.Trigger(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	runs, err := request.Wait(ctx)
	for _, run := range runs {
		fmt.Println("item", run.Item, run.Outcome)
	}
	fmt.Println(err)
	fmt.Println(reports.Update(ctx, func(cfg *job.Config) error { cfg.Description = "sent on demand"; return nil }))
	fmt.Println(reports.Leave(ctx), len(s.Jobs()))
	stop()
	fmt.Println(<-done)
	// Output:
	// item 0 success
	// item 1 success
	// <nil>
	// <nil>
	// <nil> 0
	// <nil>
}
