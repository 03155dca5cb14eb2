package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"sync"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/sharding"
)

// A strategy of your own beside the built-in ones. Every process that may lead the job needs it.
func ExampleWithStrategies() {
	strategies := sharding.Default()
	err := strategies.Register("one-for-all", sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
		a := sharding.NewAssignment(r.Total)
		for item := range a {
			a[item] = r.Instances[0]
		}
		return a, nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	s, err := scheduler.New(memory.NewServer().Open("shop"), scheduler.WithStrategies(strategies))
	if err != nil {
		log.Fatal(err)
	}
	work := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	for _, name := range []string{"one-for-all", "nearest"} {
		cfg := job.Config{Name: "orders-" + name, Cron: "@hourly", ShardingTotalCount: 3, ShardingStrategy: name}
		_, err := s.Add(context.Background(), cfg, work)
		var unknown *sharding.UnknownStrategyError
		fmt.Println(name, "is unknown:", errors.As(err, &unknown))
	}
	// Output:
	// one-for-all is unknown: false
	// nearest is unknown: true
}

// A process that has code for a class takes part in some jobs of the class only.
func ExampleWithJobFilter() {
	ctx, stop := context.WithCancel(context.Background())
	reg := memory.NewServer().Open("shop")
	defer reg.Close(context.Background())

	var once sync.Once
	index := job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		once.Do(func() { fmt.Println(sc.JobName) })
		stop()
		return nil
	})
	elsewhere, err := scheduler.New(reg) // declares the jobs and does not run
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"eu-orders", "us-orders"} {
		cfg := job.Config{Name: name, Class: "index", Cron: "* * * * * ?", ShardingTotalCount: 1}
		if _, err := elsewhere.Add(ctx, cfg, index); err != nil {
			log.Fatal(err)
		}
	}

	s, err := scheduler.New(reg,
		scheduler.WithHandler("index", index),
		scheduler.WithJobFilter(func(cfg job.Config) bool { return strings.HasPrefix(cfg.Name, "eu-") }))
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output: eu-orders
}

// All jobs of a process, such as for a page that shows when each of them fires next.
func ExampleScheduler_Jobs() {
	s, err := scheduler.New(memory.NewServer().Open("shop"))
	if err != nil {
		log.Fatal(err)
	}
	work := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
	for _, name := range []string{"orders", "invoices"} {
		if _, err := s.Add(context.Background(), job.Config{Name: name, Cron: "@hourly", ShardingTotalCount: 3}, work); err != nil {
			log.Fatal(err)
		}
	}
	for _, j := range s.Jobs() {
		fmt.Println(j.Name())
	}
	// Output:
	// invoices
	// orders
}

// A test that kills a process: nothing is handed over, and others take over when the session has ended.
func ExampleScheduler_Vanish() {
	ctx := context.Background()
	reg := memory.NewServer().Open("shop")
	defer reg.Close(ctx)
	s, err := scheduler.New(reg)
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	<-s.Ready()
	s.Vanish()
	fmt.Println(errors.Is(<-done, scheduler.ErrVanished))
	// Output: true
}

// tenant is a key of a context.
type tenant struct{}

// tenants is an observer that gives the code of each item the tenant that its job is for.
type tenants struct{}

func (tenants) Observe(scheduler.Event) {}

func (tenants) ItemContext(ctx context.Context, e scheduler.ItemEvent) context.Context {
	name, _, _ := strings.Cut(e.Context.JobName, "-")
	return context.WithValue(ctx, tenant{}, name)
}

// What an observer puts into the context of an item's code, the code finds there. Package metrics/otel gives
// the code its span in this way.
func ExampleItemContext() {
	ctx, stop := context.WithCancel(context.Background())
	reg := memory.NewServer().Open("shop")
	defer reg.Close(context.Background())
	s, err := scheduler.New(reg, scheduler.WithObserver(tenants{}))
	if err != nil {
		log.Fatal(err)
	}
	j, err := s.Add(ctx, job.Config{Name: "acme-orders", Cron: "@triggered", ShardingTotalCount: 1},
		job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			fmt.Println("for", ctx.Value(tenant{}))
			return nil
		}))
	if err != nil {
		log.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	<-s.Ready()
	if request, err := j.Trigger(ctx); err != nil {
		log.Fatal(err)
	} else if _, err := request.Wait(ctx); err != nil {
		log.Fatal(err)
	}
	stop()
	if err := <-done; err != nil {
		log.Fatal(err)
	}
	// Output: for acme
}

// One of many processes that share a large job follows no more of it than it needs. An unknown choice is refused.
func ExampleWithFollowing() {
	ctx, stop := context.WithCancel(context.Background())
	reg := memory.NewServer().Open("shop")
	defer reg.Close(context.Background())

	_, err := scheduler.New(reg, scheduler.WithFollowing("little"))
	fmt.Println(errors.Is(err, scheduler.ErrInvalidOption))

	s, err := scheduler.New(reg, scheduler.WithFollowing(scheduler.FollowByCost))
	if err != nil {
		log.Fatal(err)
	}
	cfg := job.Config{Name: "crawl", Cron: "* * * * * ?", ShardingTotalCount: 1000}
	var once sync.Once
	_, err = s.Add(ctx, cfg, job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		once.Do(func() { fmt.Println("an item of", sc.TotalCount) })
		stop()
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	if err := s.Run(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// true
	// an item of 1000
}
