// Package gocron has the code of docs/from-gocron.md: the same job with gocron and with Elasticron. It is a module of
// its own, because nobody else needs gocron.
package gocron

import (
	"context"
	"log/slog"
	"time"

	"github.com/go-co-op/gocron/v2"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// withGocron runs the job on whichever instance gets the lock of a fire.
func withGocron(ctx context.Context, locker gocron.Locker, settle func(ctx context.Context) error) error {
	s, err := gocron.NewScheduler(
		gocron.WithLocation(time.UTC),
		gocron.WithDistributedLocker(locker),
		gocron.WithStopTimeout(20*time.Second),
	)
	if err != nil {
		return err
	}
	_, err = s.NewJob(
		gocron.CronJob("*/5 * * * *", false),
		gocron.NewTask(func(ctx context.Context) error { return settle(ctx) }),
		gocron.WithName("settle"),
		gocron.WithSingletonMode(gocron.LimitModeReschedule),
		gocron.WithContext(ctx),
	)
	if err != nil {
		return err
	}
	s.Start()
	<-ctx.Done()
	return s.Shutdown()
}

// withElasticron runs the job on all instances, each with its items.
func withElasticron(ctx context.Context, reg registry.Registry, settle func(ctx context.Context, item, of int) error) error {
	s, err := scheduler.New(reg,
		scheduler.WithLogger(slog.Default()),
		scheduler.WithStopTimeout(20*time.Second),
	)
	if err != nil {
		return err
	}
	_, err = s.Add(ctx, job.Config{
		Name:               "settle",
		Cron:               "*/5 * * * *",
		ShardingTotalCount: 8,
		Failover:           true,
	}, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
		return settle(ctx, sc.Item, sc.TotalCount)
	}))
	if err != nil {
		return err
	}
	return s.Run(ctx)
}
