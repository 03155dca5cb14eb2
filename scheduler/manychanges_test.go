package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// slowToConfirm is a registry that takes two seconds more for the next request with several transactions.
type slowToConfirm struct {
	*memory.Registry
	next atomic.Bool
}

func (r *slowToConfirm) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	outcomes := r.Registry.CommitAll(ctx, txns)
	if r.next.CompareAndSwap(true, false) {
		time.Sleep(2 * time.Second)
	}
	return outcomes
}

// Many changes of a job's configuration that an instance hears of in one moment do not let the job pause: the code
// that they ask for has had no time to return. Nor is a fire lost that comes with them.
func TestManyChangesInAMoment(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var logs logbook
		reg := &slowToConfirm{Registry: c.server.Open("test")}
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("s")), scheduler.WithLogger(slog.New(&logs)))
		require.NoError(t, err)
		cfg := jobOf(1)
		cfg.Misfire = job.MisfireAll
		require.NoError(t, errOf(s.Add(t.Context(), cfg, c.record("s", nil))))
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		sleepUntil(9 * time.Second)
		reg.next.Store(true)
		sleepUntil(9500 * time.Millisecond)
		trigger(t, s) // its begin is confirmed at 11.5
		sleepUntil(9600 * time.Millisecond)
		for i := range 7 {
			cfg.JobParameter = fmt.Sprint(i)
			put(t, c.server, jobtree.For("orders").Config(), mustEncode(cfg))
		}
		sleepUntil(16 * time.Second)
		require.Zero(t, logs.of("job pauses: its configuration cannot be used"))
		// The fire of 10 s comes while a begin is under way. Whether it is a missed one is up to what the runner hears
		// of first at 11.5: the answer, or that the code returned.
		shown := c.shown()
		if len(shown) == 4 && shown[2] == "item 0 fire 10s misfire on s" {
			shown[2] = "item 0 fire 10s scheduled on s"
		}
		require.Equal(t, []string{
			"item 0 fire 5s scheduled on s", "item 0 fire by hand manual on s", "item 0 fire 10s scheduled on s", "item 0 fire 15s scheduled on s",
		}, shown)
		stop()
		require.NoError(t, <-done)
		require.NoError(t, reg.Close(context.Background()))
	})
}
