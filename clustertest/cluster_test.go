package clustertest_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/clustertest"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// A freeze that the session survives costs the code its length, and nothing else.
func TestAShortFreeze(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(invoices(), clustertest.Work(30*time.Second))
		a := c.StartN(2)[0]
		c.Advance(5*time.Minute + time.Second)
		a.Freeze()
		c.Advance(3 * time.Second)
		a.Thaw()
		c.Advance(time.Minute)
		c.EveryFireRanOnce("invoices")
		first := c.Executions("invoices")[0]
		require.Equal(t, "a", first.Instance)
		require.Equal(t, clustertest.OK, first.Outcome)
		require.InDelta(t, 33*time.Second, first.Took(), float64(time.Millisecond))
	})
}

// An execution in an instance that stands still, and that another has taken over, has not run twice: it may be
// cut short yet.
func TestAnExecutionThatWasTakenOver(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		cfg := invoices()
		cfg.Failover = true
		c.Job(cfg, clustertest.Work(30*time.Second))
		a, b := c.Start("a"), c.Start("b")
		c.Advance(5*time.Minute + time.Second)
		a.Freeze()
		c.Advance(10 * time.Second)
		c.RanOn("invoices", 0, clustertest.At(5*time.Minute), b)
		require.Equal(t, clustertest.Running, c.Executions("invoices")[2].Outcome)
		c.Advance(time.Minute)
		require.Equal(t, clustertest.Running, c.Executions("invoices")[0].Outcome)
		c.EveryFireRanOnce("invoices")
		c.RanOn("invoices", 0, clustertest.At(5*time.Minute), b)
	})
}

// In an instance that stands still no code begins and none returns.
func TestNoCodeRunsInAFrozenInstance(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		cfg := invoices()
		cfg.Unmonitored = true // so that nothing but the freeze keeps it
		var calls atomic.Int64
		c.Job(cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			calls.Add(1)
			time.Sleep(10 * time.Second)
			return nil
		}))
		a := c.Start("a")
		c.Advance(5*time.Minute + time.Second)
		require.EqualValues(t, 2, calls.Load())
		a.Freeze()
		c.Advance(30 * time.Minute)
		require.EqualValues(t, 2, calls.Load())
		require.Equal(t, clustertest.Running, c.Executions("invoices")[0].Outcome)
		a.Thaw()
		a.Freeze() // before it could do anything
		c.Advance(time.Minute)
		require.Equal(t, clustertest.Running, c.Executions("invoices")[0].Outcome)
		a.Thaw()
		c.Advance(time.Minute)
		require.Equal(t, clustertest.OK, c.Executions("invoices")[0].Outcome)
		require.Greater(t, calls.Load(), int64(2))
	})
}

// Code does not begin in an instance that stands still either, and goes on only when that has found out what
// it lost.
func TestWhatAFrozenInstanceFindsOut(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		idle := job.Config{Name: "idle", Cron: "0 0/5 * * * ?", ShardingTotalCount: 1}
		idle.Unmonitored = true // so that nothing but the freeze keeps it
		var calls atomic.Int64
		c.Job(idle, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			calls.Add(1)
			return nil
		}))
		cfg := invoices()
		cfg.ShardingTotalCount = 20
		c.Job(cfg, job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			time.Sleep(30 * time.Second) // which no freeze stops
			return clustertest.Sleep(ctx, 0)
		}))
		a := c.Start("a")
		c.Advance(5*time.Minute + time.Second)
		a.Freeze()
		c.Advance(30 * time.Minute)
		require.EqualValues(t, 1, calls.Load())
		a.Thaw()
		c.Advance(time.Second)
		require.Greater(t, calls.Load(), int64(1), "something was held up")
		for _, e := range c.Executions("invoices")[:20] {
			require.Equal(t, clustertest.CutShort, e.Outcome)
			require.ErrorIs(t, e.Err, registry.ErrSessionLost)
		}
	})
}

// An instance that crashes while it stops has not failed to stop, and Stop waits for it no longer.
func TestACrashDuringAStop(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.Job(invoices(), clustertest.Work(10*time.Second))
		a := c.Start("a")
		c.Advance(5*time.Minute + time.Second)
		crash := time.AfterFunc(2*time.Second, a.Crash)
		defer crash.Stop()
		a.Stop()
		require.Equal(t, clustertest.At(5*time.Minute+3*time.Second), time.Now().UTC())
		require.False(t, a.Running())
	})
}

// The context of code tells it of a crash, and a restart is another process.
func TestWhatCodeHearsOfACrash(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		heard := make(chan error, 2)
		c.Job(invoices(), job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
			err := clustertest.Sleep(ctx, time.Hour)
			heard <- err
			return err
		}))
		a := c.Start("a")
		c.Advance(5*time.Minute + time.Second)
		before := a.ID()
		a.Crash()
		require.False(t, a.Running())
		require.ErrorIs(t, <-heard, scheduler.ErrVanished)
		require.ErrorIs(t, <-heard, scheduler.ErrVanished)
		require.Equal(t, clustertest.At(5*time.Minute+time.Second), time.Now().UTC(), "a crash takes no time")
		a.Restart()
		require.True(t, a.Running())
		require.NotEqual(t, before, a.ID())
	})
}

// A job that is only stored has no fires before somebody takes part.
func TestAStoredJob(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		text, err := jobtree.EncodeConfig(invoices())
		require.NoError(t, err)
		_, err = c.Operator().Commit(t.Context(), registry.Txn{
			Then: []registry.Write{registry.Put(jobtree.For("invoices").Config(), text)},
		})
		require.NoError(t, err)
		c.Advance(time.Hour)
		require.Empty(t, c.Fires("invoices"))
		c.Start("a", scheduler.WithHandler("invoices", clustertest.Work(0)))
		c.Advance(time.Hour)
		c.EveryFireRanOnce("invoices")
		require.Len(t, c.Fires("invoices"), 24)
	})
}

// Whatever is broken when the test function ends, nothing is left of it.
func TestTheEndOfABrokenCluster(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(c *clustertest.Cluster){
		"frozen":           func(c *clustertest.Cluster) { c.Instance("a").Freeze() },
		"frozen, and dead": func(c *clustertest.Cluster) { c.Instance("a").Freeze(); c.Instance("a").Crash() },
		"cut off":          func(c *clustertest.Cluster) { c.Instance("a").CutOff() },
		"slow":             func(c *clustertest.Cluster) { c.Instance("a").Slow(time.Hour) },
		"no registry":      func(c *clustertest.Cluster) { c.Store().Stop() },
		"thawing":          func(c *clustertest.Cluster) { c.Instance("a").Freeze(); c.Instance("a").Thaw() },
	} {
		for _, later := range []time.Duration{0, time.Minute} {
			t.Run(name+" "+later.String(), func(t *testing.T) {
				t.Parallel()
				clustertest.Run(t, func(_ *testing.T, c *clustertest.Cluster) {
					c.Job(invoices(), job.HandlerFunc(func(ctx context.Context, _ job.ShardingContext) error {
						_ = clustertest.Sleep(ctx, time.Second)
						time.Sleep(time.Minute) // heeds nothing
						return nil
					}))
					c.StartN(2)
					c.Advance(5*time.Minute + 500*time.Millisecond)
					breaks(c)
					c.Advance(later)
				})
			})
		}
	}
}

// A failure in the middle of a test function ends everything, too.
func TestTheEndOfATestThatSkips(t *testing.T) {
	t.Parallel()
	ended := false
	t.Run("skips", func(t *testing.T) {
		defer func() { ended = true }()
		clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
			c.Job(invoices(), clustertest.Work(time.Minute))
			c.StartN(3)
			c.Advance(5 * time.Minute)
			t.Skip("on purpose")
		})
	})
	require.True(t, ended)
}

// Kinds of jobs that depend on their configuration run as they do without the package.
func TestADataflow(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		var batches atomic.Int64
		flow := job.Dataflow[int]{
			Fetch: func(_ context.Context, sc job.ShardingContext) ([]int, error) {
				if sc.Offset == "done" {
					return nil, nil
				}
				return []int{1, 2, 3}, nil
			},
			Process: func(ctx context.Context, _ job.ShardingContext, _ []int) error {
				batches.Add(1)
				return job.SetOffset(ctx, "done")
			},
		}
		cfg := invoices()
		cfg.Type, cfg.StreamingProcess = job.TypeDataflow, true
		c.Job(cfg, flow)
		c.StartN(2)
		c.Advance(10 * time.Minute)
		c.EveryFireRanOnce("invoices")
		c.NothingFailed("invoices")
		require.EqualValues(t, 2, batches.Load())
	})
}

// Jobs can be declared before instances start and while they run.
func TestJobsAreDeclaredWhenever(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		c.StartN(2)
		c.Job(invoices(), nil)
		c.Advance(time.Hour)
		c.Start("late")
		c.Advance(time.Hour)
		c.EveryFireRanOnce("invoices")
		require.Len(t, c.Fires("invoices"), 2*24)
		require.Contains(t, []string{"a", "b"}, c.Leader("invoices").Name(), "who was there first leads")
		require.Len(t, c.Instances(), 3)
	})
}

// Fires are due by what the tree said when they came.
func TestWhichFiresAreDue(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		cfg := invoices()
		cfg.Jitter = 60 * time.Second
		c.Job(cfg, nil)
		c.Advance(time.Hour + time.Minute) // nobody is there yet
		a := c.Start("a")
		c.Advance(4*time.Minute + 59*time.Second)
		require.Empty(t, c.Fires("invoices"), "its jitter is not over")
		c.Advance(time.Second)
		require.Len(t, c.Fires("invoices"), 2)
		a.Disable("invoices")
		c.Advance(time.Hour)
		require.Len(t, c.Fires("invoices"), 2, "all servers are disabled")
		a.Enable("invoices")
		c.Update("invoices", func(cfg *job.Config) { cfg.Disabled = true })
		c.Advance(time.Hour)
		require.Len(t, c.Fires("invoices"), 2, "the job is disabled")
		c.Update("invoices", func(cfg *job.Config) { cfg.Disabled = false })
		a.Crash()
		c.Advance(time.Hour)
		require.Len(t, c.Fires("invoices"), 2+24, "nobody lives, which misses fires")
		require.Len(t, c.MissedFires("invoices"), 24)
	})
}

// Names are given by the alphabet, and the first items to the first instance.
func TestManyInstances(t *testing.T) {
	t.Parallel()
	clustertest.Run(t, func(t *testing.T, c *clustertest.Cluster) {
		const many = 28
		cfg := invoices()
		cfg.ShardingTotalCount = many
		c.Job(cfg, nil)
		c.Start("c")
		all := c.StartN(many - 1)
		require.Equal(t, []string{"a", "b", "d"}, []string{all[0].Name(), all[1].Name(), all[2].Name()})
		require.Equal(t, "a1", all[25].Name())
		c.Advance(5 * time.Minute)
		c.EveryFireRanOnce("invoices")
		for n, i := range c.Instances() {
			require.Same(t, i, c.Owner("invoices", n))
		}
	})
}

// Addresses are those of the present order also as text, and valid.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for number := range 5000 {
		require.Greater(t, clustertest.Address(number), clustertest.Address(number+1))
		require.NotNil(t, net.ParseIP(clustertest.Address(number)))
	}
}
