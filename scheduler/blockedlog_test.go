package scheduler_test

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// badLog is a log that from some moment on does with its lines what the test says.
type badLog struct {
	slog.Handler
	bad atomic.Bool
	do  func()
}

func (b *badLog) Handle(context.Context, slog.Record) error {
	if b.bad.Load() {
		b.do()
	}
	return nil
}

func (b *badLog) Enabled(context.Context, slog.Level) bool { return true }
func (b *badLog) WithAttrs([]slog.Attr) slog.Handler       { return b }
func (b *badLog) WithGroup(string) slog.Handler            { return b }

// Whatever becomes of its log, a process that loses its session cancels what runs before others begin it, goes on when the
// registry is back, and stops in time.
func TestABadLogHoldsNothingUp(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(goOn <-chan struct{}){
		"stands still": func(goOn <-chan struct{}) { <-goOn },
		"is slow":      func(<-chan struct{}) { time.Sleep(5 * time.Second) },
		"panics":       func(<-chan struct{}) { panic("no such key") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				goOn := make(chan struct{})
				defer close(goOn)
				log := &badLog{do: func() { do(goOn) }}
				var cancelled time.Time
				work := func(ctx context.Context, _ job.ShardingContext) error {
					<-ctx.Done()
					cancelled = time.Now()
					return context.Cause(ctx)
				}
				a := c.startWith("a", work, []scheduler.Option{scheduler.WithLogger(slog.New(log)), scheduler.WithStopTimeout(time.Second)}, failoverOf(2))
				c.start("b", nil, failoverOf(2))
				sleepUntil(6 * time.Second)
				log.bad.Store(true)
				a.registry.Cut()
				sleepUntil(30 * time.Second)
				require.NotZero(t, cancelled)
				again := slices.DeleteFunc(c.take(), func(r run) bool { return r.sc.Source != job.Failover })
				require.Len(t, again, 1)
				require.True(t, cancelled.Before(again[0].began), "%s is not before %s", cancelled, again[0].began)

				a.registry.Heal()
				sleepUntil(70 * time.Second)
				require.Len(t, c.state().Instances, 2, "it is back")
				began := time.Now()
				a.cancel()
				err := a.ended()
				require.Less(t, time.Since(began), 4*time.Second+500*time.Millisecond)
				require.NoError(t, err)
				log.bad.Store(false)
				time.Sleep(10 * time.Second) // for a line that is being written
			})
		})
	}
}
