package clustertest_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/job"
)

// What has begun and waits for its turn is not missed, unless its instance dies before that comes.
func TestItemsThatWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		cfg := invoices()
		cfg.ShardingTotalCount, cfg.MaxConcurrentItems = 4, 1
		c.Job(cfg, clustertest.Work(20*time.Second))
		a := c.Start("a")
		fire := clustertest.At(5 * time.Minute)
		c.AdvanceTo(fire.Add(time.Second))
		c.EveryFireRanOnce("invoices")
		require.Len(t, c.Executions("invoices"), 1)
		require.Contains(t, said(c, func() { c.RanOn("invoices", 3, fire, a) }), "item 3, fire 00:05:00: did not run yet, it waits for its turn on a\n")
		require.Contains(t, said(c, func() { c.MissedExactly("invoices", clustertest.Fire{Item: 3, Time: fire}) }),
			"item 3, fire 00:05:00 should have been missed, and waits for its turn on a\n")
		c.Advance(2 * time.Minute)
		c.EveryFireRanOnce("invoices")
		require.Len(t, c.Executions("invoices"), 4)

		c.AdvanceTo(clustertest.At(10*time.Minute + time.Second))
		a.Crash()
		var missed []clustertest.Fire
		for item := range 4 {
			missed = append(missed, clustertest.Fire{Item: item, Time: clustertest.At(10 * time.Minute)})
		}
		c.MissedExactly("invoices", missed...)
	})
}

// The end of what has run is not recorded while its instance is cut off: it waits for nothing.
func TestAnEndThatIsNotRecordedIsNoWait(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(invoices(), clustertest.Work(10*time.Second))
		a := c.Start("a")
		c.Advance(5*time.Minute + 9*time.Second)
		a.CutOff()
		c.Advance(2 * time.Second)
		c.EveryFireRanOnce("invoices")
		a.Crash()
		c.EveryFireRanOnce("invoices")
	})
}

// A fake that one caller may use at once, and that takes time, is one with a channel, as the package documentation says.
func TestAFakeForOneAtOnce(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		bank := make(chan struct{}, 1)
		c.Job(invoices(), job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			bank <- struct{}{}
			defer func() { <-bank }()
			return clustertest.Sleep(ctx, time.Second)
		}))
		c.Start("a")
		c.Advance(11 * time.Minute)
		c.EveryFireRanOnce("invoices")
		require.Equal(t, 2*time.Second, max(c.Executions("invoices")[0].Took(), c.Executions("invoices")[1].Took()))
	})
}
