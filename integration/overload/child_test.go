package overload_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
	"github.com/elasticron/elasticron/registry/zkcompat"
	"github.com/elasticron/elasticron/scheduler"
)

// itemsPerJob is how many items each job has, unless a shape says otherwise.
const itemsPerJob = 10

// settings are what a child is told when it starts.
type settings struct {
	Members   int  // of a store
	ZooKeeper bool // what an instance uses, or else etcd
	Endpoints []string
	Namespace string // of an instance, like what follows
	ID        string
	Every     int // seconds between two fires of a job
	Items     int // of a job
}

// told is what an instance is told meanwhile, and answers with its counts.
type told struct {
	Jobs int // how many there should be; never fewer than before
}

// counts are what has happened in an instance since it started.
type counts struct {
	Ran      int64 // executions that have ended well and were recorded
	Items    int   // that ran at least once
	Lost     int64 // sessions
	Doubtful int64 // sessions that were suspended
	CPU      time.Duration
	Err      string
}

// be makes this process a child, until its input ends.
func be(role string, set settings) error {
	if role == roleStore {
		return beStore(set)
	}
	return beInstance(set)
}

func beStore(set settings) error {
	const quota = 8 << 30 // nothing is compacted in the minutes that a curve takes
	cluster, err := embedded.StartCluster(context.Background(), set.Members, embedded.WithQuota(quota))
	if err != nil {
		return err
	}
	if err := json.NewEncoder(os.Stdout).Encode(cluster.Endpoints()); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, cluster.Close())
}

// processorTime is what this process took of the processors.
func processorTime() time.Duration {
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// instance runs jobs whose items do nothing.
type instance struct {
	scheduler            *scheduler.Scheduler
	every                int // seconds
	items                int // of a job
	jobs                 int
	ran, lost, suspended atomic.Int64

	mu   sync.Mutex
	seen map[item]bool // those that ran
}

type item struct {
	job    string
	number int
}

func beInstance(set settings) error {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	reg, err := set.open(log)
	if err != nil {
		return err
	}
	i := &instance{every: set.Every, items: set.Items, seen: make(map[item]bool)}
	i.scheduler, err = scheduler.New(reg, scheduler.WithInstanceID(set.ID), scheduler.WithObserver(i), scheduler.WithLogger(log),
		scheduler.WithStopTimeout(stopTimeout))
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- i.scheduler.Run(ctx) }()
	err = i.serve(ctx)
	stop()
	return errors.Join(err, <-done, reg.Close(context.Background()))
}

// open returns a handle on the store.
func (s settings) open(log *slog.Logger) (registry.Registry, error) {
	if s.ZooKeeper {
		return zkcompat.Open(context.Background(), zkcompat.Config{Servers: s.Endpoints, Namespace: s.Namespace, ConnectionTimeout: time.Minute, Logger: log})
	}
	return etcd.Open(context.Background(), etcd.Config{Endpoints: s.Endpoints, Namespace: s.Namespace, DialTimeout: time.Minute, Logger: log})
}

// serve does what the parent says, and tells what has happened each time.
func (i *instance) serve(ctx context.Context) error {
	answers := json.NewEncoder(os.Stdout)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var order told
		if err := json.Unmarshal(lines.Bytes(), &order); err != nil {
			return err
		}
		failed := ""
		if err := i.want(ctx, order.Jobs); err != nil {
			failed = err.Error()
		}
		err := answers.Encode(counts{
			Ran: i.ran.Load(), Items: i.itemsThatRan(), Lost: i.lost.Load(), Doubtful: i.suspended.Load(), CPU: processorTime(), Err: failed,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// want adds jobs until there are so many.
func (i *instance) want(ctx context.Context, jobs int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	adds, ctx := errgroup.WithContext(ctx)
	adds.SetLimit(64)
	for ; i.jobs < jobs; i.jobs++ {
		cfg := job.Config{
			Name: fmt.Sprintf("job-%d", i.jobs), Cron: fmt.Sprintf("%d/%d * * * * ?", i.jobs%i.every, i.every),
			ShardingTotalCount: i.items,
		}
		adds.Go(func() error {
			_, err := i.scheduler.Add(ctx, cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
			return err
		})
	}
	return adds.Wait()
}

// stopTimeout is for what is due of tens of thousands of items, which a stop notes, over a slow line and on a slow machine.
// What a stop takes is not what is measured here.
const stopTimeout = 2 * time.Minute

// Observe implements [scheduler.Observer].
func (i *instance) Observe(event scheduler.Event) {
	switch e := event.(type) {
	case scheduler.ItemEvent:
		if e.Over() {
			i.itemEnded(e)
		}
	case scheduler.ConnectionEvent:
		i.connectionChanged(e)
	}
}

func (i *instance) itemEnded(e scheduler.ItemEvent) {
	if e.Err == nil && e.Refused == nil {
		i.ran.Add(1)
		i.mu.Lock()
		defer i.mu.Unlock()
		i.seen[item{e.Context.JobName, e.Context.Item}] = true
	}
}

func (i *instance) itemsThatRan() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.seen)
}

func (i *instance) connectionChanged(e scheduler.ConnectionEvent) {
	switch e.Change {
	case scheduler.ConnectionSuspended:
		i.suspended.Add(1)
	case scheduler.ConnectionLost:
		i.lost.Add(1)
	}
}
