package clustertest_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/job"
)

// tenMinutes is code that works for ten minutes in all, and makes room when it is told to.
func tenMinutes(ctx context.Context, _ job.ShardingContext) error {
	second, _ := strconv.Atoi(job.Offset(ctx))
	for ; second < 600; second++ {
		select {
		case <-job.Yield(ctx):
			_ = job.SetOffset(ctx, strconv.Itoa(second))
			return job.ErrYielded
		default:
		}
		if err := clustertest.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
	return job.SetOffset(ctx, "")
}

// What made room has not run to its end, and has not failed: its rerun counts, and without failover there is none.
func TestCodeThatMakesRoom(t *testing.T) {
	t.Parallel()
	for _, failover := range []bool{true, false} {
		clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
			c.Job(job.Config{Name: "night", Cron: "0 0 2 * * ?", ShardingTotalCount: 1, Failover: failover}, job.HandlerFunc(tenMinutes))
			c.StartN(2)
			c.Advance(2*time.Hour + 5*time.Minute)
			c.Owner("night", 0).Stop()
			c.Advance(time.Hour)
			c.NothingFailed("night")
			c.NoFireRanTwice("night")
			ran := c.Executions("night")
			require.Equal(t, clustertest.CutShort, ran[0].Outcome)
			if !failover {
				c.MissedExactly("night", clustertest.Fire{Item: 0, Time: clustertest.At(2 * time.Hour)})
				require.Len(t, ran, 1)
				return
			}
			c.EveryFireRanOnce("night")
			require.Len(t, ran, 2)
			require.Equal(t, 10*time.Minute, (ran[0].Took() + ran[1].Took()).Round(time.Second), "the rest, and no more")
		})
	}
}

// A stream makes room by itself, also where nothing stops: another instance starts, and has items.
func TestAStreamThatMakesRoom(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		done := 0
		flow := job.Dataflow[int]{
			Fetch: func(_ context.Context, sc job.ShardingContext) ([]int, error) {
				if next, _ := strconv.Atoi(sc.Offset); next < 600 {
					return []int{next}, nil
				}
				return nil, nil
			},
			Process: func(ctx context.Context, _ job.ShardingContext, batch []int) error {
				if err := clustertest.Sleep(ctx, time.Second); err != nil {
					return err
				}
				done++
				return job.SetOffset(ctx, strconv.Itoa(batch[0]+1))
			},
		}
		cfg := job.Config{Name: "night", Type: job.TypeDataflow, StreamingProcess: true, Cron: "0 0 2 * * ?", ShardingTotalCount: 1, Failover: true}
		c.Job(cfg, flow)
		c.Start("z")
		c.Advance(2*time.Hour + 5*time.Minute)
		c.Start("a")
		c.Advance(time.Hour)
		require.Equal(t, 600, done)
		c.EveryFireRanOnce("night")
	})
}
