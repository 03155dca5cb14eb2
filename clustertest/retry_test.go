package clustertest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/job"
)

// retried is a job whose code fails at the first attempt of each fire, wherever it runs, and pauses at least five seconds
// before the second.
func retried(failover bool) (job.Config, job.Handler) {
	cfg := job.Config{
		Name: "invoices", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1, Failover: failover,
		Retries: 3, RetryBackoff: 10 * time.Second, ErrorHandler: "IGNORE",
	}
	failed := make(map[time.Time]bool)
	return cfg, job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
		if !failed[sc.Fire] {
			failed[sc.Fire] = true
			return errors.New("the bank does not answer")
		}
		return nil
	})
}

// What is to be tried again still runs: it has neither ended nor failed.
func TestAnExecutionThatIsToBeTriedAgain(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(retried(false))
		c.StartN(2)
		c.Advance(15 * time.Minute) // the third fire has just failed for the first time
		c.NothingFailed("invoices")
		c.EveryFireRanOnce("invoices")
		ran := c.Executions("invoices")
		require.Len(t, ran, 3)
		require.Equal(t, clustertest.OK, ran[1].Outcome)
		require.Equal(t, clustertest.Running, ran[2].Outcome)
		require.Zero(t, ran[2].Ended)
		require.NoError(t, ran[2].Err)
		c.Advance(time.Minute)
		ended := c.Executions("invoices")[2]
		require.Equal(t, clustertest.OK, ended.Outcome)
		require.Equal(t, 2, ended.Attempts)
		require.GreaterOrEqual(t, ended.Took(), 5*time.Second)
	})
}

// The last attempt is the end, and there is one.
func TestAnExecutionThatWasTriedInVain(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		cfg, _ := retried(false)
		c.Job(cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return errors.New("the bank is closed") }))
		a := c.Start("a")
		c.Advance(5 * time.Minute)
		c.NothingFailed("invoices")
		c.Advance(3 * time.Minute)
		a.CutOff()
		c.Advance(time.Hour)
		ran := c.Executions("invoices")
		require.Len(t, ran, 1)
		require.Equal(t, clustertest.Failed, ran[0].Outcome)
		require.Equal(t, 4, ran[0].Attempts)
	})
}

// An instance that crashes in the pause before an attempt has not run its item, whoever does it then.
func TestACrashInThePauseBeforeAnAttempt(t *testing.T) {
	t.Parallel()
	for _, failover := range []bool{true, false} {
		clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
			c.Job(retried(failover))
			c.StartN(2)
			c.Advance(5*time.Minute + time.Second)
			c.Owner("invoices", 0).Crash()
			c.Advance(time.Minute)
			ran := c.Executions("invoices")
			require.Equal(t, clustertest.Crashed, ran[0].Outcome)
			require.Equal(t, clustertest.At(5*time.Minute+time.Second), ran[0].Ended.UTC())
			c.NoFireRanTwice("invoices")
			if failover {
				require.Len(t, ran, 2)
				c.EveryFireRanOnce("invoices")
				return
			}
			require.Len(t, ran, 1)
			require.Contains(t, said(c, func() { c.EveryFireRanOnce("invoices") }), "item 0, fire 00:05:00: did not run, it crashed on a\n")
		})
	}
}

// A crash by the code itself, at the very end of an attempt, is no other.
func TestACrashAtTheEndOfAnAttempt(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		cfg, _ := retried(true)
		c.Job(cfg, job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			if i := c.Instance(clustertest.InstanceName(ctx)); i.Name() == "a" {
				i.Crash()
				return errors.New("the power is gone")
			}
			return nil
		}))
		c.StartN(2)
		c.Advance(6 * time.Minute)
		c.EveryFireRanOnce("invoices")
		require.Equal(t, clustertest.Crashed, c.Executions("invoices")[0].Outcome)
	})
}

// An instance that loses its session in the pause does not try again. This is known at once, and not only when the registry
// can be told.
func TestALostSessionInThePauseBeforeAnAttempt(t *testing.T) {
	t.Parallel()
	for _, failover := range []bool{true, false} {
		clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
			cfg, code := retried(failover)
			cfg.RetryBackoff = time.Minute
			c.Job(cfg, code)
			a := c.StartN(2)[0]
			c.Advance(5*time.Minute + time.Second)
			a.CutOff()
			c.Advance(20 * time.Second) // and nobody heals it
			ran := c.Executions("invoices")
			require.Equal(t, clustertest.CutShort, ran[0].Outcome)
			require.ErrorContains(t, ran[0].Err, "the bank does not answer")
			require.InDelta(t, 4*time.Second, ran[0].Took(), float64(2*time.Second), "its session was over then")
			c.NothingFailed("invoices")
			if failover {
				c.EveryFireRanOnce("invoices")
			} else {
				c.MissedExactly("invoices", clustertest.Fire{Time: clustertest.At(5 * time.Minute)})
			}
			a.Heal()
			c.Advance(time.Minute)
			require.Equal(t, ran[0].Ended, c.Executions("invoices")[0].Ended)
			require.Equal(t, clustertest.CutShort, c.Executions("invoices")[0].Outcome)
		})
	}
}

// A freeze that the session survives delays the next attempt, and a longer one is the end.
func TestAFreezeInThePauseBeforeAnAttempt(t *testing.T) {
	t.Parallel()
	for frozen, outcome := range map[time.Duration]clustertest.Outcome{3 * time.Second: clustertest.OK, time.Minute: clustertest.CutShort} {
		clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
			c.Job(retried(true))
			a := c.StartN(2)[0]
			c.Advance(5*time.Minute + time.Second)
			a.Freeze()
			c.Advance(frozen)
			require.Equal(t, clustertest.Running, c.Executions("invoices")[0].Outcome)
			a.Thaw()
			c.Advance(time.Minute)
			require.Equal(t, outcome, c.Executions("invoices")[0].Outcome)
			c.EveryFireRanOnce("invoices")
		})
	}
}

// Code that the test knows less of is told of no earlier than it ends.
func TestRetriesOfCodeBySetup(t *testing.T) {
	t.Parallel()
	for _, failover := range []bool{true, false} {
		clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
			cfg, code := retried(failover)
			c.Setup(func(ctx context.Context, i *clustertest.Instance) error {
				_, err := i.Scheduler().Add(ctx, cfg, code)
				return err
			})
			c.StartN(2)
			c.Advance(10 * time.Minute)
			c.NothingFailed("invoices")
			c.Owner("invoices", 0).Crash()
			c.Advance(time.Minute)
			if failover {
				c.EveryFireRanOnce("invoices")
			} else {
				c.MissedExactly("invoices", clustertest.Fire{Time: clustertest.At(10 * time.Minute)})
			}
		})
	}
}
