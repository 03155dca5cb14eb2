package scheduler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// These are stories of the attempts of package executions, told by whole clusters; its own tests are with it.

func TestAnItemIsTriedAgainWithinItsExecution(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1}
		cfg.Retries = 3
		calls := 0
		c.start("a", func(context.Context, job.ShardingContext) error {
			if calls++; calls < 3 {
				return errors.New("not yet")
			}
			return nil
		}, cfg)
		sleepUntil(6 * time.Minute)
		runs := c.take()
		require.Len(t, runs, 3)
		for _, r := range runs {
			require.Equal(t, runs[0].sc, r.sc, "one execution, one token")
		}
		record := c.state().Item(0).Record.Value
		require.Equal(t, jobtree.Counts{Success: 1}, record.Counts)
	})
}

func TestRetriesAreUsedUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1}
		cfg.Retries = 2
		c.start("a", func(context.Context, job.ShardingContext) error { return errors.New("never") }, cfg)
		sleepUntil(6 * time.Minute)
		require.Len(t, c.take(), 3)
		record := c.state().Item(0).Record.Value
		require.Equal(t, jobtree.Counts{Failure: 1}, record.Counts)
		require.Equal(t, "never", record.Current.Error)
	})
}

func TestAnAttemptIsBounded(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1}
		cfg.Timeout = 7 * time.Second
		c.start("a", untilDone, cfg)
		sleepUntil(6 * time.Minute)
		runs := c.take()
		require.Len(t, runs, 1)
		require.ErrorIs(t, runs[0].cause, job.ErrTimeout)
		require.Equal(t, 7*time.Second, runs[0].ended.Sub(runs[0].began))
		record := c.state().Item(0).Record.Value
		require.Equal(t, jobtree.Failure, record.Current.Outcome)
		require.Contains(t, record.Current.Error, "timed out")
	})
}

func TestAPanicIsAnErrorOfItsItem(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 {
				panic("boom")
			}
			return nil
		}, jobOf(3))
		sleepUntil(6 * time.Second)
		s := c.state()
		require.Equal(t, jobtree.Success, s.Item(0).Record.Value.Current.Outcome)
		require.Equal(t, jobtree.Failure, s.Item(1).Record.Value.Current.Outcome)
		require.Contains(t, s.Item(1).Record.Value.Current.Error, "boom")
		require.Equal(t, jobtree.Success, s.Item(2).Record.Value.Current.Outcome)
	})
}
