package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/sharding"
)

const (
	jobName     = "index"
	sessionTTL  = 2 * time.Second // of a process that nobody watches: the default, 5 s
	stopTimeout = 3 * time.Second // of items that run when the process is asked to stop
	farewell    = 2 * time.Second // to say goodbye to the registry
)

// Work is one process of the demo: it reads its settings from in, takes part in the job until in or
// ctx ends, writes its reports to out and its log to logs.
func Work(ctx context.Context, in io.Reader, out, logs io.Writer) (err error) {
	lines := json.NewDecoder(in)
	var set settings
	if err := lines.Decode(&set); err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	log := slog.New(slog.NewTextHandler(logs, nil)).With("process", set.Label)
	reg, err := etcd.Open(ctx, etcd.Config{
		Endpoints: set.Endpoints, Namespace: set.Namespace, SessionTTL: sessionTTL, Logger: log,
	})
	if err != nil {
		return err
	}
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
		defer cancel()
		err = errors.Join(err, reg.Close(bounded))
	}()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	desk := newDesk(out)
	go desk.listen(lines, stop) // ends with the process: a read of standard input cannot be cancelled
	return take(ctx, reg, desk, set, log)
}

// take takes part in the job until ctx ends.
func take(ctx context.Context, reg *etcd.Registry, desk *desk, set settings, log *slog.Logger) error {
	s, err := scheduler.New(reg, scheduler.WithLogger(log), scheduler.WithObserver(observer{desk: desk}),
		scheduler.WithStopTimeout(stopTimeout))
	if err != nil {
		return err
	}
	desk.instance = s.InstanceID()
	if err := desk.write(report{Kind: reportHello}); err != nil {
		return err
	}
	if _, err := s.Add(ctx, jobConfig(set.Items, set.Every), job.HandlerFunc(counter{tree: os.DirFS(set.Dir), desk: desk}.count)); err != nil {
		return err
	}
	return s.Run(ctx)
}

// jobConfig describes the job, the same in every process.
func jobConfig(items int, every time.Duration) job.Config {
	cfg := job.Config{Name: jobName, Cron: "@every " + every.String(), ShardingTotalCount: items}
	cfg.Description = "reads every file of a tree, each item its share"
	cfg.Failover = true
	// An item that had to wait for more than a period on a busy machine runs for each fire, and says that it is late: one
	// run for all of them looks like a fire that was lost.
	cfg.Misfire = job.MisfireAll
	// So that a reader sees only those items move that lost their process.
	cfg.ShardingStrategy = sharding.NameMinimal
	return cfg
}
