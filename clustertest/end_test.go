package clustertest_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/scheduler"
)

// slowMail is an error handler that takes a while, whatever its context says.
type slowMail struct{ sent chan<- string }

func (m slowMail) HandleError(context.Context, string, job.ShardingContext, error) error {
	time.Sleep(3 * time.Second)
	m.sent <- "mail"
	return nil
}

// slowly is code that takes a while to be made when its settings say so.
type slowly struct{ made chan<- string }

func (s slowly) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if cfg.JobParameter == "slow" {
		time.Sleep(3 * time.Second)
		s.made <- "code"
	}
	return func(context.Context, job.ShardingContext) error { return nil }, nil
}

// Whatever code of an application is under way when the test function ends, it may finish: it waits for nothing but time.
func TestTheEndWaitsForAllCode(t *testing.T) {
	t.Parallel()
	cfg := job.Config{Name: "ticks", Cron: "0 * * * * ?", ShardingTotalCount: 1}
	for name, story := range map[string]func(c *clustertest.Cluster, over chan<- string){
		"code by Setup": func(c *clustertest.Cluster, over chan<- string) {
			c.Setup(func(ctx context.Context, i *clustertest.Instance) error {
				_, err := i.Scheduler().Add(ctx, cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
					time.Sleep(2 * time.Hour)
					over <- "code"
					return nil
				}))
				return err
			})
			c.Start("a")
			c.Advance(time.Minute + time.Second)
		},
		"code by Setup, after a crash": func(c *clustertest.Cluster, over chan<- string) {
			c.Setup(func(ctx context.Context, i *clustertest.Instance) error {
				_, err := i.Scheduler().Add(ctx, cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
					time.Sleep(10 * time.Second)
					over <- "code"
					return nil
				}))
				return err
			})
			a := c.Start("a")
			c.Advance(time.Minute + time.Second)
			a.Crash()
		},
		"what code has started": func(c *clustertest.Cluster, over chan<- string) {
			c.Job(cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
				go func() {
					time.Sleep(10 * time.Second)
					over <- "goroutine"
				}()
				return nil
			}))
			c.Start("a")
			c.Advance(time.Minute)
		},
		"an error handler": func(c *clustertest.Cluster, over chan<- string) {
			handlers := errorhandler.Default()
			_ = handlers.Register("mail", func(job.Config, *slog.Logger) (job.ErrorHandler, error) { return slowMail{over}, nil })
			failing := cfg
			failing.ErrorHandler = "mail"
			c.Job(failing, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return errors.New("the bank is closed") }))
			c.Start("a", scheduler.WithErrorHandlers(handlers), scheduler.WithLogger(slog.New(slog.DiscardHandler)))
			c.Advance(time.Minute + time.Second)
		},
		"a listener, before": func(c *clustertest.Cluster, over chan<- string) {
			c.Job(cfg, nil, scheduler.WithListener(job.ListenerFuncs{Before: func(context.Context, job.Round) error {
				time.Sleep(3 * time.Second)
				over <- "listener"
				return nil
			}}))
			c.Start("a")
			c.Advance(time.Minute + time.Second)
		},
		"a listener, after": func(c *clustertest.Cluster, over chan<- string) {
			c.Job(cfg, nil, scheduler.WithListener(job.ListenerFuncs{After: func(context.Context, job.Round, []job.ItemResult) error {
				time.Sleep(3 * time.Second)
				over <- "listener"
				return nil
			}}))
			c.Start("a")
			c.Advance(time.Minute + time.Second)
		},
		"a hook of the whole round": func(c *clustertest.Cluster, over chan<- string) {
			c.Job(cfg, nil, scheduler.WithWholeRoundListener(job.WholeRoundListener{
				CompletedWithin: time.Minute,
				AllCompleted: func(context.Context, job.WholeRound) error {
					time.Sleep(3 * time.Second)
					over <- "hook"
					return nil
				},
			}))
			c.Start("a")
			c.Advance(time.Minute + time.Second)
		},
		"code that is made of new settings": func(c *clustertest.Cluster, over chan<- string) {
			c.Job(cfg, slowly{over})
			c.Start("a")
			c.Update("ticks", func(cfg *job.Config) { cfg.JobParameter = "slow" })
			c.Advance(time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var over chan string
			clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
				over = make(chan string, 100)
				story(c, over)
				require.Empty(t, over, "it is under way")
			})
			require.NotEmpty(t, over, "it has finished")
		})
	}
}

// What the test itself ends in its cleanup does not tick for the day that is waited for: it would tick 86 million times a
// millisecond apart.
func TestTheEndLetsNothingTickOn(t *testing.T) {
	t.Parallel()
	ticks := 0
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		ended := make(chan struct{})
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(func() { cancel(); <-ended })
		go func() {
			defer close(ended)
			ticker := time.NewTicker(time.Second)
			defer ticker.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-ticker.C:
					ticks++
				}
			}
		}()
		c.Start("a")
	})
	require.Less(t, ticks, 100)
}
