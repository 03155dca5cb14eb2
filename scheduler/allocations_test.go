package scheduler_test

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// How many pieces of memory an execution may take, of the scheduler and the registry in memory.
const mostPieces = 96

// What an execution takes of the collector of garbage is mostly how many pieces of memory it is made of.
func TestAllocationsOfAnExecution(t *testing.T) { // not parallel: it counts what the process allocates
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")))
		require.NoError(t, err)
		var executions atomic.Int64
		cfg := jobOf(20)
		cfg.Cron = "@every 1s"
		require.NoError(t, errOf(s.Add(t.Context(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			executions.Add(1)
			return nil
		}))))
		c.run(s, reg)
		sleepUntil(9500 * time.Millisecond)
		least := math.Inf(1)
		for range 100 { // which goroutine comes first makes a difference, the more so on a busy machine
			var before, after runtime.MemStats
			counted := executions.Load()
			runtime.ReadMemStats(&before)
			time.Sleep(2 * time.Second)
			runtime.ReadMemStats(&after)
			least = min(least, float64(after.Mallocs-before.Mallocs)/float64(executions.Load()-counted))
		}
		t.Logf("an execution: %.1f pieces of memory", least)
		require.LessOrEqual(t, least, float64(mostPieces))
	})
}
