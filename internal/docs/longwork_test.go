package docs_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/job"
)

// What docs/writing-jobs.md shows.

// longWork sums up the days of a year. It goes on from its checkpoint, and makes room between two days.
func longWork(ctx context.Context, _ job.ShardingContext) error {
	day, _ := strconv.Atoi(job.Offset(ctx)) // 0 if there is none
	for ; day < 365; day++ {
		if err := job.SetOffset(ctx, strconv.Itoa(day)); err != nil {
			return err
		}
		select {
		case <-job.Yield(ctx):
			return job.ErrYielded
		default:
		}
		if err := sumUp(ctx, day); err != nil {
			return err // the context may have ended
		}
	}
	return job.SetOffset(ctx, "") // all is done
}

type summedKey struct{}

// sumUp takes a while, and notes which days it did in a test.
func sumUp(ctx context.Context, day int) error {
	if err := clustertest.Sleep(ctx, 7*time.Second); err != nil {
		return err
	}
	if note, is := ctx.Value(summedKey{}).(func(int)); is {
		note(day)
	}
	return nil
}

func TestLongWorkOfWritingJobs(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		var days []int
		c.Job(job.Config{Name: "year", Cron: "0 0 2 * * ?", ShardingTotalCount: 1, Failover: true},
			job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
				return longWork(context.WithValue(ctx, summedKey{}, func(day int) { days = append(days, day) }), sc)
			}))
		c.StartN(3)
		c.Advance(2*time.Hour + time.Minute)
		for range 5 {
			c.Advance(10 * time.Minute)
			c.Owner("year", 0).Restart()
		}
		c.Advance(3 * time.Hour)
		c.EveryFireRanOnce("year")
		c.NothingFailed("year")
		require.Len(t, days, 365, "no day is left out")
		for i, day := range days {
			require.Equal(t, i, day)
		}
	})
}
