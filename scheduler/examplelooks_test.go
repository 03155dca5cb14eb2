package scheduler_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// reports runs a scheduler with one job, which somebody triggers, until the end of the example.
func reports(ctx context.Context, opts ...scheduler.Option) (s *scheduler.Scheduler, j *scheduler.Job, stop func()) {
	reg := memory.NewServer().Open("shop", memory.WithTTL(time.Minute)) // so that the session outlasts a machine that stalls
	s, err := scheduler.New(reg, opts...)
	if err != nil {
		log.Fatal(err)
	}
	j, err = s.Add(ctx, job.Config{Name: "reports", Cron: "@triggered", ShardingTotalCount: 2},
		job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	<-s.Ready()
	return s, j, func() {
		cancel()
		if err := <-done; err != nil {
			log.Fatal(err)
		}
		if err := reg.Close(context.WithoutCancel(ctx)); err != nil {
			log.Fatal(err)
		}
	}
}

// The configuration is changed for all processes, and nobody else's change is lost.
func ExampleJob_Update() {
	ctx := context.Background()
	_, j, stop := reports(ctx)
	defer stop()

	err := j.Update(ctx, func(cfg *job.Config) error {
		cfg.Cron = "0 30 6 ? * MON-FRI"
		cfg.TimeZone = "Europe/Vienna"
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	cfg, _, err := j.Config()
	fmt.Println(cfg.Cron, cfg.TimeZone, err)
	// Output: 0 30 6 ? * MON-FRI Europe/Vienna <nil>
}

// One item runs again for a fire of the past, with a parameter for its code. Who waits learns how each item ended.
func ExampleJob_Trigger_item() {
	ctx := context.Background()
	reg := memory.NewServer().Open("shop")
	s, err := scheduler.New(reg)
	if err != nil {
		log.Fatal(err)
	}
	j, err := s.Add(ctx, job.Config{Name: "invoices", Cron: "0 0 3 * * ?", ShardingTotalCount: 4},
		job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
			fmt.Println("item", sc.Item, "for", sc.Fire.Format(time.DateOnly), "with", sc.TriggerParameter)
			return nil
		}))
	if err != nil {
		log.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- s.Run(running) }()
	<-s.Ready()

	request, err := j.Trigger(ctx,
		scheduler.TriggerItems(2),
		scheduler.TriggerFire(time.Date(2026, time.March, 2, 3, 0, 0, 0, time.UTC)),
		scheduler.TriggerParameter("--again"),
		scheduler.TriggerWithin(time.Minute),
		scheduler.TriggerReplacing(), // if an earlier request is pending
	)
	if err != nil {
		log.Fatal(err)
	}
	runs, err := request.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, run := range runs {
		fmt.Println("item", run.Item, run.Outcome)
	}
	stop()
	if err := <-done; err != nil {
		log.Fatal(err)
	}
	// Output:
	// item 2 for 2026-03-02 with --again
	// item 2 success
}

// When the job fires next, by the configuration that is stored.
func ExampleJob_Next() {
	ctx := context.Background()
	monday := time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC)
	_, j, stop := reports(ctx, scheduler.WithClock(func() time.Time { return monday }))
	defer stop()
	if err := j.Update(ctx, func(cfg *job.Config) error { cfg.Cron = "0 0 18 L * ?"; return nil }); err != nil {
		log.Fatal(err)
	}
	fires, err := j.Next(3)
	if err != nil {
		log.Fatal(err)
	}
	for _, fire := range fires {
		fmt.Println(fire.UTC().Format(time.DateTime))
	}
	// Output:
	// 2026-03-31 18:00:00
	// 2026-04-30 18:00:00
	// 2026-05-31 18:00:00
}

// How often each item ran, wherever it ran, and how that ended.
func ExampleJob_Statistics() {
	ctx := context.Background()
	_, j, stop := reports(ctx)
	defer stop()
	request, err := j.Trigger(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := request.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	numbers, err := j.Statistics(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, item := range numbers.Items {
		fmt.Println("item", item.Item, item.LastOutcome, item.Success, "of", item.Success+item.Failure)
	}
	// Output:
	// item 0 success 1 of 1
	// item 1 success 1 of 1
}

// A process leaves one job while its others go on. Other processes get the items.
func ExampleJob_Leave() {
	ctx := context.Background()
	s, j, stop := reports(ctx)
	defer stop()
	err := j.Leave(ctx)
	fmt.Println(err, len(s.Jobs()))
	// Output: <nil> 0
}

// What the nodes of a job hold, in the registry and in what this process sees of it.
func ExampleJob_Dump() {
	ctx := context.Background()
	_, j, stop := reports(ctx)
	defer stop()
	d, err := j.Dump(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, node := range d.Nodes {
		if node.Path == "/reports/config" {
			fmt.Println(node.Path, node.Agrees())
		}
	}
	// Output: /reports/config true
}

// What a probe asks. Package health answers over HTTP.
func ExampleScheduler_Health() {
	s, _, stop := reports(context.Background())
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second) // for runners that wait for the registry
	defer cancel()
	h := s.Health(ctx)
	fmt.Println(h.State, h.Session.State)
	for _, j := range h.Jobs {
		fmt.Println(j.Job, j.Answered, j.Joined)
	}
	// Output:
	// running connected
	// reports true true
}

// A second signal hands over at once, and cancels what still runs.
func ExampleScheduler_StopNow() {
	s, _, stop := reports(context.Background())
	impatient := make(chan struct{})
	go func() {
		<-impatient
		s.StopNow()
	}()
	close(impatient)
	stop()
	fmt.Println(s.Health(context.Background()).State)
	// Output: stopped
}

// Listeners of the process hear of its session, and of the jobs that it leads.
func ExampleWithConnectionListener() {
	sessions, leaderships := make(chan string, 1), make(chan string, 1)
	_, _, stop := reports(context.Background(),
		scheduler.WithConnectionListener(func(_ context.Context, e scheduler.ConnectionEvent) error {
			if e.Change == scheduler.ConnectionEstablished {
				sessions <- "session established"
			}
			return nil
		}),
		scheduler.WithLeadershipListener(func(_ context.Context, e scheduler.LeadershipEvent) error {
			if e.Leading {
				leaderships <- "leading " + e.Job
			}
			return nil
		}))
	fmt.Println(<-sessions)
	fmt.Println(<-leaderships)
	stop()
	// Output:
	// session established
	// leading reports
}

// Failures of jobs whose ErrorHandler is "PAGER" go where the application wants them.
func ExampleWithErrorHandlers() {
	handlers := errorhandler.Default()
	err := handlers.Register("PAGER", func(job.Config, *slog.Logger) (job.ErrorHandler, error) {
		return job.ErrorHandlerFunc(func(_ context.Context, name string, sc job.ShardingContext, err error) error {
			fmt.Printf("item %d of %s: %v\n", sc.Item, name, err)
			return nil
		}), nil
	})
	if err != nil {
		log.Fatal(err)
	}
	s, err := scheduler.New(memory.NewServer().Open("shop"), scheduler.WithErrorHandlers(handlers))
	fmt.Println(s != nil, err)
	// Output: true <nil>
}
