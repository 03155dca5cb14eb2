package scheduler_test

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/health"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// withHeldEnds runs a test with an instance whose store is full since second 6, in the midst of what began in second 5: the
// code of both items returns in second 8, and nothing can record that.
func withHeldEnds(t *testing.T, cfg job.Config, test func(t *testing.T, c *cluster, a *instance, log *lines)) {
	t.Helper()
	inBubble(t, func(t *testing.T, c *cluster) {
		log := &lines{}
		logger := scheduler.WithLogger(slog.New(slog.NewTextHandler(log, nil)))
		a := c.startWith("a", takes(3*time.Second), []scheduler.Option{logger, scheduler.WithStopTimeout(10 * time.Second)}, cfg)
		sleepUntil(6 * time.Second)
		c.server.SetFull(true)
		test(t, c, a, log)
	})
}

// The store becomes full while items run. They show as running for as long as it is full; the process that holds their ends
// says that they do not run.
func TestEndsThatAFullStoreDoesNotTakeAreNotWell(t *testing.T) {
	t.Parallel()
	withHeldEnds(t, jobOf(2), func(t *testing.T, c *cluster, a *instance, _ *lines) {
		for _, at := range []time.Duration{7, 9, 17} {
			sleepUntil(at * time.Second)
			h, j := a.look(t)
			require.Empty(t, j.Unrecorded, "at second %d", at)
			require.True(t, health.Cluster(h).OK)
		}
		sleepUntil(19 * time.Second)
		h, j := a.look(t)
		require.Len(t, j.Unrecorded, 2)
		for n, e := range j.Unrecorded {
			require.Equal(t, n, e.Item)
			require.Equal(t, 8*time.Second, e.Ended.Sub(bubbleStart))
		}
		require.Empty(t, j.Overdue, "no fire has passed for ten seconds since")
		require.True(t, health.Live(h).OK)
		require.True(t, health.Ready(h).OK)
		require.Equal(t, []string{`job "orders": 2 items have ended here, and the registry has not taken that for more than ten seconds`}, health.Cluster(h).Reasons)
		sleepUntil(26 * time.Second)
		_, j = a.look(t)
		require.Len(t, j.Overdue, 2, "they should have run since, and neither did nor do")
		require.Equal(t, 15*time.Second, j.Overdue[0].Fire.Sub(bubbleStart))

		c.server.SetFull(false)
		sleepUntil(29 * time.Second)
		h, j = a.look(t)
		require.Empty(t, j.Unrecorded)
		require.Empty(t, j.Overdue)
		require.True(t, health.Cluster(h).OK)
	})
}

// What runs for long is well, however full the store is.
func TestWhatRunsIsWellWhileTheStoreIsFull(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", takes(40*time.Second), jobOf(2))
		sleepUntil(6 * time.Second)
		c.server.SetFull(true)
		sleepUntil(44 * time.Second)
		_, j := a.look(t)
		require.Empty(t, j.Unrecorded)
		require.Empty(t, j.Overdue)
		c.server.SetFull(false)
	})
}

// A stop that waits for ends that the store does not take says so, whether they were refused before it began or after.
func TestAStopSaysThatEndsWait(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Duration{"refused before": 9500 * time.Millisecond, "refused just then": 8 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withHeldEnds(t, jobOf(2), func(t *testing.T, c *cluster, a *instance, log *lines) {
				sleepUntil(at)
				a.cancel()
				sleepUntil(at + 1500*time.Millisecond)
				require.Empty(t, a.done, "it waits")
				require.Equal(t, 1, log.count(`msg="stopping, waiting for what runs"`))
				require.Equal(t, 1, log.count("registry=orders"))
				sleepUntil(at + 11*time.Second + 100*time.Millisecond)
				require.Equal(t, 1, log.count(`msg="stop timeout is over, what still runs is cancelled"`))
				require.Equal(t, 2, log.count("registry=orders"))
				c.server.SetFull(false)
				a.stop(t)
			})
		})
	}
}

// leaveless is a registry that lets no instance leave for a while.
type leaveless struct {
	*memory.Registry
	held atomic.Bool
}

func (r *leaveless) refuses(txn registry.Txn) bool {
	return r.held.Load() && slices.ContainsFunc(txn.Then, func(w registry.Write) bool {
		return w.Kind == registry.WriteDelete && w.Path == jobtree.For("orders").Instance(fullID("a"))
	})
}

func (r *leaveless) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	if r.refuses(txn) {
		return 0, registry.ErrNoSpace
	}
	return r.Registry.Commit(ctx, txn)
}

func (r *leaveless) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	if slices.ContainsFunc(txns, r.refuses) {
		return slices.Repeat([]registry.Outcome{{Err: registry.ErrNoSpace}}, len(txns))
	}
	return r.Registry.CommitAll(ctx, txns)
}

// So does one that waits for its leave alone, of which nothing is known when the stop begins.
func TestAStopSaysThatItsLeaveWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		log := &lines{}
		reg := &leaveless{Registry: c.server.Open("test")}
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithLogger(slog.New(slog.NewTextHandler(log, nil))))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(2), c.record("a", nil))))
		a := c.run(s, reg.Registry)
		<-a.Ready()
		sleepUntil(7 * time.Second)
		reg.held.Store(true)
		a.cancel()
		sleepUntil(7400 * time.Millisecond)
		require.Zero(t, log.count("waiting for what runs"), "it may leave at once")
		sleepUntil(8 * time.Second)
		require.Empty(t, a.done, "it waits")
		require.Equal(t, 1, log.count(`msg="stopping, waiting for what runs"`))
		require.Equal(t, 1, log.count("registry=orders"))
		reg.held.Store(false)
		a.stop(t)
	})
}

// A stop that waits for nothing says nothing.
func TestAStopThatNothingHoldsUpIsQuiet(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		log := &lines{}
		logger := scheduler.WithLogger(slog.New(slog.NewTextHandler(log, nil)))
		a := c.startWith("a", nil, []scheduler.Option{logger}, jobOf(2))
		sleepUntil(7 * time.Second)
		a.stop(t)
		require.Zero(t, log.count("waiting for what runs"))
	})
}
