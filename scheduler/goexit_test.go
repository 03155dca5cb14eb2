package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/sharding"
)

// These are stories of code that packages executions, notify, asking and wholeround call, told by whole clusters.

// vanishing is user code of every kind. That of one kind ends the goroutine that it is called on, as
// testing.T.FailNow does; the rest does what it should.
type vanishing struct {
	kind   string
	mu     sync.Mutex
	called int // that code
	failed []error
}

func (v *vanishing) at(kind string) {
	if kind != v.kind {
		return
	}
	v.mu.Lock()
	v.called++
	v.mu.Unlock()
	runtime.Goexit()
}

func (v *vanishing) calls() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.called
}

func (v *vanishing) run(context.Context, job.ShardingContext) error {
	v.at("item")
	return errSpoiled // so that its handler is called
}

func (v *vanishing) BeforeRun(context.Context, job.Round) error { v.at("before run"); return nil }

func (v *vanishing) AfterRun(context.Context, job.Round, []job.ItemResult) error {
	v.at("after run")
	return nil
}

func (v *vanishing) Observe(event scheduler.Event) {
	switch e := event.(type) {
	case scheduler.ListenerEvent:
		v.note(e.Err)
	case scheduler.ErrorHandlerEvent:
		v.note(e.Handler)
	case scheduler.WholeRoundEvent:
		v.note(e.Err)
	case scheduler.ItemEvent:
		switch {
		case !e.Over():
			v.at("observer")
		case v.kind == "item":
			v.note(e.Err)
		}
	}
}

func (v *vanishing) ItemContext(ctx context.Context, _ scheduler.ItemEvent) context.Context {
	v.at("item context")
	return ctx
}

func (v *vanishing) note(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err != nil {
		v.failed = append(v.failed, err)
	}
}

func (v *vanishing) hook(phase string) func(context.Context, job.WholeRound) error {
	return func(context.Context, job.WholeRound) error { v.at(phase); return nil }
}

func (v *vanishing) options(t *testing.T) []scheduler.Option {
	t.Helper()
	handlers := errorhandler.Default()
	require.NoError(t, handlers.Register("TEST", func(job.Config, *slog.Logger) (job.ErrorHandler, error) {
		return job.ErrorHandlerFunc(func(context.Context, string, job.ShardingContext, error) error { v.at("handler"); return nil }), nil
	}))
	var strategies sharding.Registry
	average, err := sharding.Default().Lookup("")
	require.NoError(t, err)
	require.NoError(t, strategies.Register("TEST", sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
		if v.calls() == 0 {
			v.at("strategy") // once, or there would never be an assignment
		}
		return average.Assign(r)
	})))
	return []scheduler.Option{
		scheduler.WithObserver(v), scheduler.WithErrorHandlers(handlers), scheduler.WithStrategies(&strategies),
		scheduler.WithConnectionListener(func(context.Context, scheduler.ConnectionEvent) error { v.at("connection"); return nil }),
		scheduler.WithLeadershipListener(func(context.Context, scheduler.LeadershipEvent) error { v.at("leadership"); return nil }),
	}
}

// Whatever code of a user ends its goroutine, the job goes on, and what can fail has failed.
func TestCodeThatEndsItsGoroutineHasFailed(t *testing.T) {
	t.Parallel()
	reported := map[string]bool{ // false: what happened stands in the log alone
		"item": true, "before run": true, "after run": true, "handler": true, "connection": true, "leadership": true,
		"started": true, "completed": true, "strategy": false, "observer": false, "item context": false,
	}
	for kind, reports := range reported {
		for _, retries := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s, %d retries", kind, retries), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					v := &vanishing{kind: kind}
					cfg := minutely(1)
					cfg.Retries, cfg.ErrorHandler, cfg.ShardingStrategy = retries, "TEST", "TEST"
					cfg.ReconcileInterval = time.Minute
					c.startDeclared("a", job.HandlerFunc(v.run), cfg, v.options(t), scheduler.WithListener(v), scheduler.WithWholeRoundListener(job.WholeRoundListener{
						AllStarted: v.hook("started"), StartedWithin: 10 * time.Second,
						AllCompleted: v.hook("completed"), CompletedWithin: 20 * time.Second,
					}))
					sleepUntil(3*time.Minute + time.Second)
					record := c.state().Item(0).Record.Value
					require.Equal(t, jobtree.Counts{Failure: 3}, record.Counts, "every fire ran, and has ended")
					require.NotZero(t, v.calls())
					if kind == "item" {
						require.Equal(t, 3*(1+retries), v.calls())
						require.Contains(t, record.Current.Error, "runtime.Goexit")
					}
					if reports {
						require.NotEmpty(t, v.failed)
					}
					for _, err := range v.failed {
						require.ErrorIs(t, err, job.ErrGoexit)
					}
				})
			})
		}
	}
}

// Configure is asked when the job is declared, and again when its configuration changes.
func TestConfigureThatEndsItsGoroutinePausesTheJob(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startCode("a", vanishingConfigure{}, jobOf(1))
		cfg := jobOf(1)
		cfg.JobParameter = "vanish"
		c.change(cfg)
		sleepUntil(time.Minute)
		c.take()
		cfg.JobParameter = ""
		c.change(cfg)
		sleepUntil(time.Minute + 30*time.Second)
		require.True(t, c.executed(0).End.After(bubbleStart.Add(time.Minute)), "it goes on when it can")
		require.ErrorIs(t, c.declares(vanishingConfigure{}, "vanish"), job.ErrGoexit)
	})
}

type vanishingConfigure struct{}

func (vanishingConfigure) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if cfg.JobParameter == "vanish" {
		runtime.Goexit()
	}
	return func(context.Context, job.ShardingContext) error { return nil }, nil
}

// declares returns what a process hears that declares another job with this parameter.
func (c *cluster) declares(code job.Handler, parameter string) error {
	c.t.Helper()
	reg := c.server.Open("test")
	defer func() { require.NoError(c.t, reg.Close(context.Background())) }()
	s, err := scheduler.New(reg)
	require.NoError(c.t, err)
	cfg := job.Config{Name: "other", Cron: everyFive, ShardingTotalCount: 1}
	cfg.JobParameter = parameter
	return errOf(s.Add(c.t.Context(), cfg, code))
}
