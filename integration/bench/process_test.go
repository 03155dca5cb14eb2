package bench_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// handle is a handle on the registry that can end as a crash of its process would.
type handle interface {
	registry.Registry
	Vanish()
}

// process is one that takes part in jobs: a handle on the registry, and a scheduler over it.
type process struct {
	b         testing.TB
	registry  handle
	scheduler *scheduler.Scheduler
	cancel    context.CancelFunc
	done      chan error // what Run returned
}

func newProcess(tb testing.TB, reg handle, options ...scheduler.Option) *process {
	tb.Helper()
	s, err := scheduler.New(reg, options...)
	require.NoError(tb, err)
	return &process{b: tb, registry: reg, scheduler: s, done: make(chan error, 1)}
}

// named is the option by which a process has a short name.
func named(name string) scheduler.Option { return scheduler.WithInstanceID(fullID(name)) }

func fullID(name string) string { return "10.0.0.1@-@" + name }

func (p *process) add(cfg job.Config, work job.HandlerFunc) {
	p.b.Helper()
	_, err := p.scheduler.Add(p.b.Context(), cfg, work)
	require.NoError(p.b, err)
}

// start runs the scheduler and returns when it has joined every job.
func (p *process) start() {
	p.b.Helper()
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	go func() { p.done <- p.scheduler.Run(ctx) }()
	select {
	case <-p.scheduler.Ready():
	case err := <-p.done:
		require.FailNow(p.b, "Run ended before it was ready", "error: %v", err)
	case <-time.After(3 * time.Minute):
		require.FailNow(p.b, "not ready within three minutes")
	}
}

// stop ends the process as a deployment does.
func (p *process) stop() {
	p.b.Helper()
	p.cancel()
	p.finish()
}

// finish waits for the end of a process whose context is over.
func (p *process) finish() {
	p.b.Helper()
	require.NoError(p.b, <-p.done, "Run")
	require.NoError(p.b, p.registry.Close(context.Background()))
}

// crash ends the process without a word to the registry.
func (p *process) crash() {
	p.b.Helper()
	p.registry.Vanish()
	p.scheduler.Vanish()
	require.Error(p.b, <-p.done, "Run") // that its registry closed, or that it vanished
	p.cancel()
}

// idle is the code of a job that does nothing.
func idle(context.Context, job.ShardingContext) error { return nil }

// yearly describes a job that does not fire while it is measured.
func yearly(name string, items int) job.Config {
	return job.Config{Name: name, Cron: "0 0 0 1 1 ? 2099", ShardingTotalCount: items}
}
