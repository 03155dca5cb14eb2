package scheduler_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// refusals counts ends that were refused.
type refusals struct{ count atomic.Int64 }

func (r *refusals) Observe(event scheduler.Event) {
	if e, is := event.(scheduler.ItemEvent); is && e.Refused != nil {
		r.count.Add(1)
	}
}

// Two schedulers of one process share its session, and still leave each other's runs alone.
func TestTwoSchedulersOnOneHandle(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(2 * time.Second); return nil }
		var refused refusals
		a := c.serve("a", reg, slow, scheduler.WithObserver(&refused))
		b := c.serve("b", reg, slow, scheduler.WithObserver(&refused))
		sleepUntil(13 * time.Second)
		require.Len(t, c.take(), 4)
		a()
		b()
		require.Zero(t, refused.count.Load())
		require.NoError(t, reg.Close(context.Background()))
	})
}
