package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// The whole of a program that takes part in a job. Start it as often as you like, on as many machines
// as you like.
func Example() {
	// The first Ctrl-C or SIGTERM ends ctx, and the process hands its items over. A second one ends it at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)

	// All jobs of the process share one handle, and so one session. It logs what is wrong with etcd.
	reg, err := etcd.Open(ctx, etcd.Config{Endpoints: []string{"localhost:2379"}, Namespace: "shop", Logger: slog.Default()})
	if err != nil {
		log.Fatal(err)
	}
	// The log tells of failed items, refused settings and lost sessions.
	s, err := scheduler.New(reg, scheduler.WithLogger(slog.Default()))
	if err != nil {
		log.Fatal(err)
	}

	// Four items run every five seconds, spread over all processes that run this program.
	invoices := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		fmt.Printf("item %d of %d, fire %s, token %d\n", sc.Item, sc.TotalCount, sc.Fire, sc.Token)
		return nil // do this item's share of the work; stop when ctx ends
	})
	if _, err := s.Add(ctx, job.Config{
		Name: "invoices", Cron: "0/5 * * * * ?", ShardingTotalCount: 4,
	}, invoices); err != nil {
		log.Fatal(err)
	}
	err = s.Run(ctx)
	// Run and Close return in bounded time, even if etcd cannot be reached.
	if err := errors.Join(err, reg.Close(context.Background())); err != nil {
		log.Fatal(err)
	}
}

// A job can be run without an etcd, as in tests: the in-memory registry keeps the same promises.
func ExampleJob_Trigger() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	reg := memory.NewServer().Open("example")
	defer reg.Close(context.Background())
	s, err := scheduler.New(reg)
	if err != nil {
		log.Fatal(err)
	}
	cfg := job.Config{
		Name:                   "cleanup",
		Cron:                   "@yearly",
		ShardingTotalCount:     1,
		ShardingItemParameters: "0=archive",
	}
	cleanup, err := s.Add(ctx, cfg, job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		fmt.Println(sc.JobName, sc.Item, sc.ItemParameter, sc.Source)
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	<-s.Ready()
	if request, err := cleanup.Trigger(ctx); err != nil {
		log.Fatal(err)
	} else if _, err := request.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		log.Fatal(err)
	}
	// Output: cleanup 0 archive manual
}

// An observer switches over the events that it cares for.
func ExampleObserver() {
	pager := scheduler.ObserverFunc(func(event scheduler.Event) {
		switch e := event.(type) {
		case scheduler.ItemEvent:
			if e.Over() && e.Err != nil {
				fmt.Printf("item %d of %s failed after %s: %v\n", e.Context.Item, e.Context.JobName, e.Ended.Sub(e.Began), e.Err)
			}
		case scheduler.PauseEvent:
			if e.Err != nil {
				fmt.Printf("%s pauses: %v\n", e.Job, e.Err)
			}
		}
	})
	if _, err := scheduler.New(memory.NewServer().Open("shop"), scheduler.WithObserver(pager)); err != nil {
		log.Fatal(err)
	}
}
