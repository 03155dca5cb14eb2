package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/zkcompat"
	"github.com/elasticron/elasticron/scheduler"
)

func elasticron(ctx context.Context, a assignment, run runs, ready func()) error {
	reg, err := etcd.Open(ctx, etcd.Config{Endpoints: a.Stores, Namespace: a.Namespace, Logger: warnings()})
	if err != nil {
		return err
	}
	return schedule(ctx, reg, a.Work, run, ready)
}

func elasticronOnZooKeeper(ctx context.Context, a assignment, run runs, ready func()) error {
	reg, err := zkcompat.Open(ctx, zkcompat.Config{Servers: a.Stores, Namespace: a.Namespace, Logger: warnings()})
	if err != nil {
		return err
	}
	return schedule(ctx, reg, a.Work, run, ready)
}

func warnings() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func schedule(ctx context.Context, reg registry.Registry, w work, run runs, ready func()) error {
	s, err := scheduler.New(reg, scheduler.WithLogger(warnings()))
	if err != nil {
		return errors.Join(err, reg.Close(ctx))
	}
	adds, adding := errgroup.WithContext(ctx)
	adds.SetLimit(16)
	for n := range w.Jobs {
		adds.Go(func() error {
			_, err := s.Add(adding, job.Config{
				Name: jobName(n), Cron: w.quartz(), ShardingTotalCount: w.Items, Failover: true,
			}, job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
				run(n, sc.Item, sc.Fire)
				return nil
			}))
			return err
		})
	}
	if err := adds.Wait(); err != nil {
		return errors.Join(err, reg.Close(ctx))
	}
	go func() {
		select {
		case <-s.Ready():
			ready()
		case <-ctx.Done():
		}
	}()
	err = s.Run(ctx)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, reg.Close(closing))
}
