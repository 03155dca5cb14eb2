package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

type traced struct{}

// tracing is an observer that makes the contexts of items.
type tracing func(context.Context) context.Context

func (tracing) Observe(scheduler.Event) {}

func (f tracing) ItemContext(ctx context.Context, _ scheduler.ItemEvent) context.Context {
	return context.WithValue(f(ctx), traced{}, "span")
}

// An observer that returns a context of another tree, or one that it has ended, lends its values and nothing else: the item
// has its checkpoint, runs on, and hears of the stop.
func TestAnObserversContextDoesNotTakeAnItemsOwn(t *testing.T) {
	t.Parallel()
	for name, makes := range map[string]tracing{
		"unrelated": func(context.Context) context.Context { return context.Background() },
		"cancelled": func(ctx context.Context) context.Context {
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			return ctx
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var cause error
				var ended time.Time
				i := c.startWith("a", func(ctx context.Context, _ job.ShardingContext) error {
					require.Equal(t, "span", ctx.Value(traced{}))
					require.NoError(t, job.SetOffset(ctx, "7"))
					<-job.Yield(ctx) // the stop begins
					<-ctx.Done()
					cause, ended = context.Cause(ctx), time.Now()
					return nil
				}, []scheduler.Option{scheduler.WithObserver(makes), scheduler.WithStopTimeout(3 * time.Second)}, jobOf(1))
				sleepUntil(10 * time.Second)
				require.Zero(t, ended)
				i.stop(t)
				require.ErrorIs(t, cause, scheduler.ErrStopped)
				require.Equal(t, 13*time.Second, ended.Sub(bubbleStart))
				require.Equal(t, "7", c.state().Item(0).Offset)
			})
		})
	}
}
