package scheduler_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// untilDone is work that goes on until its context ends.
func untilDone(ctx context.Context, _ job.ShardingContext) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

// A stop that lasts longer than its timeout cancels what runs, with a cause, and records it as
// interrupted; with failover on, it is run again elsewhere.
func TestAStopThatTakesTooLong(t *testing.T) {
	t.Parallel()
	for _, failover := range []bool{false, true} {
		inBubble(t, func(t *testing.T, c *cluster) {
			cfg := jobOf(1)
			cfg.Failover = failover
			a := c.start("a", untilDone, cfg)
			sleepUntil(6 * time.Second)
			c.start("b", nil, cfg)
			a.cancel()
			sleepUntil(27 * time.Second) // the stop timeout is 20 s
			require.NoError(t, a.ended())
			runs := c.take()
			require.ErrorIs(t, runs[0].cause, scheduler.ErrStopped)
			require.Equal(t, 26*time.Second, runs[0].ended.Sub(bubbleStart).Truncate(time.Second))
			record := c.state().Item(0).Record.Value
			require.Equal(t, int64(1), record.Counts.Interrupted)
			if failover {
				require.Equal(t, job.Failover, runs[1].sc.Source)
				require.Equal(t, runs[0].sc.Fire, runs[1].sc.Fire)
				require.Greater(t, runs[1].sc.Token, runs[0].sc.Token)
			} else {
				require.Equal(t, job.Misfire, runs[1].sc.Source)
			}
		})
	}
}

func TestStopNow(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", untilDone, jobOf(1))
		sleepUntil(6 * time.Second)
		a.StopNow()
		require.NoError(t, a.ended())
		require.Equal(t, 6*time.Second, time.Since(bubbleStart).Truncate(time.Second))
		s := c.state()
		require.Empty(t, s.Instances)
		require.Equal(t, jobtree.ItemInterrupted, s.Item(0).Record.Value.State)
		require.Equal(t, jobtree.Interrupted, s.Item(0).Record.Value.Current.Outcome)
	})
}

// Code that has lost its session, and is still about to end, hears of a stop as well.
func TestAStopIsHeardByWhatWasCancelledBefore(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		heard := make(chan time.Time, 1)
		a := c.start("a", func(ctx context.Context, _ job.ShardingContext) error {
			<-ctx.Done()
			select {
			case <-execution.Stop(ctx).Done():
				heard <- time.Now()
			case <-time.After(time.Hour):
			}
			return context.Cause(ctx)
		}, jobOf(1))
		sleepUntil(6 * time.Second)
		a.registry.Expire()
		sleepUntil(7 * time.Second)
		a.cancel()
		sleepUntil(26 * time.Second)
		require.Empty(t, heard, "the stop timeout of 20 s is not over")
		err := a.ended()
		require.NoError(t, err)
		require.Len(t, heard, 1)
		require.Equal(t, 27*time.Second, (<-heard).Sub(bubbleStart).Truncate(time.Second))
	})
}

func TestVanishTellsTheRegistryNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", untilDone, jobOf(1))
		sleepUntil(6 * time.Second)
		before := stored(t, c.server)
		a.Vanish()
		require.ErrorIs(t, a.ended(), scheduler.ErrVanished)
		require.Equal(t, before, stored(t, c.server))
	})
}

// Nor does a process that vanishes while it stops wait for anything more: what runs keeps its mark, and Run tells that
// it did not stop as it should.
func TestVanishDuringADrain(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]job.HandlerFunc{
		"running": untilDone,
		"deaf":    func(context.Context, job.ShardingContext) error { time.Sleep(time.Hour); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				a := c.start("a", work, jobOf(1))
				sleepUntil(6 * time.Second)
				a.cancel()
				sleepUntil(7 * time.Second)
				before := stored(t, c.server)
				a.Vanish()
				select {
				case err := <-a.done:
					a.done <- nil
					require.ErrorIs(t, err, scheduler.ErrVanished)
				case <-time.After(3 * time.Second):
					require.Fail(t, "Run goes on")
				}
				require.Equal(t, before, stored(t, c.server))
				require.True(t, c.state().Item(0).Running.Exists())
				time.Sleep(2 * time.Hour)
				if runs := c.take(); name == "running" {
					require.ErrorIs(t, runs[0].cause, scheduler.ErrVanished)
				}
			})
		})
	}
}

// Code that ignores its context is given up, named, and does not keep Run from returning.
func TestCodeThatDoesNotReturnIsGivenUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		deaf := func(context.Context, job.ShardingContext) error { time.Sleep(time.Hour); return nil }
		a := c.start("a", deaf, jobOf(2))
		sleepUntil(6 * time.Second)
		a.StopNow()
		err := a.ended()
		require.ErrorContains(t, err, `job "orders": items [0 1] did not return`)
		s := c.state()
		require.False(t, s.Item(0).Running.Exists())
		require.Equal(t, jobtree.Interrupted, s.Item(0).Record.Value.Current.Outcome)
		time.Sleep(time.Hour)
	})
}

// What waits for its turn while the registry is out of reach has no code that could have returned.
func TestWhatWaitsForItsTurnIsNotBlamed(t *testing.T) {
	t.Parallel()
	for _, byHand := range []bool{false, true} {
		inBubble(t, func(t *testing.T, c *cluster) {
			reg := c.server.Open("test")
			var log lines
			s, err := scheduler.New(reg, scheduler.WithStopTimeout(time.Second), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
			require.NoError(t, err)
			cfg := jobOf(2)
			cfg.MaxConcurrentItems, cfg.Failover = 1, true
			j, err := s.Add(t.Context(), cfg, c.record("a", untilDone))
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- s.Run(ctx) }()
			if byHand {
				sleepUntil(time.Second)
				require.NoError(t, errOf(j.Trigger(t.Context())))
				sleepUntil(2 * time.Second)
			} else {
				sleepUntil(6 * time.Second)
			}
			reg.Cut()
			cancel()
			require.NoError(t, <-done)
			require.Zero(t, log.count("did not return"))
			require.Len(t, c.take(), 1, "one of two had its turn")
			reg.Heal()
			require.NoError(t, reg.Close(t.Context()))
		})
	}
}

// A stop while the registry is out of reach ends when the session does.
func TestAStopWithoutARegistry(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(1))
		sleepUntil(6 * time.Second)
		a.registry.Cut()
		a.cancel()
		require.NoError(t, a.ended())
		require.Less(t, time.Since(bubbleStart), 30*time.Second)
		a.registry.Heal()
	})
}

// Nor does it wait for a session that lasts longer than the stop timeout.
func TestAStopWithoutARegistryAndALongSession(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]job.HandlerFunc{
		"idle":    nil,
		"running": untilDone,
		"deaf":    func(context.Context, job.ShardingContext) error { time.Sleep(time.Hour); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				a := c.launchOver(c.server.Open("test", memory.WithTTL(10*time.Minute)), "a", work, jobOf(1))
				<-a.Ready()
				sleepUntil(6 * time.Second)
				a.registry.Cut()
				a.cancel()
				err := a.ended()
				require.Equal(t, name == "deaf", err != nil, "%v", err)
				require.LessOrEqual(t, time.Since(bubbleStart), 29*time.Second, "20 s of the stop timeout and 3 s")
				a.registry.Heal()
				time.Sleep(2 * time.Hour)
			})
		})
	}
}

func TestRunIsForOnce(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	defer reg.Close(context.Background())
	s, err := scheduler.New(reg)
	require.NoError(t, err)
	s.StopNow() // does nothing yet
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.Run(ctx))
	require.ErrorIs(t, s.Run(ctx), scheduler.ErrRan)
	require.EqualError(t, scheduler.ErrRan, "Run was called before: a scheduler runs once") // the other one may still go on
	require.ErrorIs(t, errOf(s.Add(t.Context(), jobOf(1), nothing)), scheduler.ErrStopped)
}

func TestVanishWinsOverAStop(t *testing.T) {
	t.Parallel()
	for range 20 {
		inBubble(t, func(t *testing.T, c *cluster) {
			a := c.start("a", untilDone, jobOf(1))
			sleepUntil(6 * time.Second)
			a.Vanish()
			a.cancel()
			require.ErrorIs(t, a.ended(), scheduler.ErrVanished)
			require.True(t, c.state().Item(0).Running.Exists(), "nothing was written")
		})
	}
}

func TestAddDuringAStopIsRefused(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(10 * time.Second); return nil }
		a := c.start("a", slow, jobOf(1))
		sleepUntil(6 * time.Second)
		a.cancel()
		sleepUntil(7 * time.Second)
		require.ErrorIs(t, errOf(a.Add(t.Context(), job.Config{Name: "late", Cron: everyFive, ShardingTotalCount: 1}, nothing)), scheduler.ErrStopped)
		require.NotContains(t, stored(t, c.server), "/late/config")
	})
}

// A job is being left when the process is stopped, and code of another one does not listen: Run
// returns, and names what it gave up.
func TestAStopWhileAJobIsLeft(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.store(ofClass("bills", "index", 1))
		reg := c.server.Open("test")
		bills := took(10 * time.Second)
		s, stop := c.serveOver(reg, func(ctx context.Context, sc job.ShardingContext) error {
			if sc.JobName == "bills" {
				return bills(ctx, sc)
			}
			time.Sleep(3 * time.Minute)
			return nil
		})
		deaf := job.HandlerFunc(func(context.Context, job.ShardingContext) error { time.Sleep(3 * time.Minute); return nil })
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), deaf)))
		sleepUntil(6 * time.Second)
		c.store(ofClass("bills", "other", 1))
		sleepUntil(8 * time.Second)
		require.ErrorContains(t, stop(), `job "orders": items [0] did not return`)
		time.Sleep(10 * time.Minute)
		require.NoError(t, reg.Close(context.Background()))
	})
}

// stopsSoon runs a scheduler and stops it at a moment of the story; that is over soon, whatever its items wait for.
func stopsSoon(t *testing.T, s *scheduler.Scheduler, at time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	<-s.Ready()
	sleepUntil(at)
	began := time.Now()
	cancel()
	require.NoError(t, <-done)
	require.Less(t, time.Since(began), 5*time.Second, "a stop after %s", at)
}

// An item adds a job when a stop begins, at any moment of that: it does not wait for a join that can come no more, so the stop
// takes as long as the registry does, and the item comes to its end.
func TestAStopWhileAnItemAddsAJob(t *testing.T) {
	t.Parallel()
	joined := 0
	for after := 5 * time.Second; after < 8*time.Second; after += 100 * time.Millisecond {
		inBubble(t, func(t *testing.T, c *cluster) {
			reg := c.server.Open("test", memory.WithLatency(200*time.Millisecond))
			s, err := scheduler.New(reg)
			require.NoError(t, err)
			adding, added := make(chan struct{}, 1), make(chan error, 1)
			adds := func(ctx context.Context, _ job.ShardingContext) error {
				adding <- struct{}{}
				_, err := s.Add(ctx, job.Config{Name: "late", Cron: everyFive, ShardingTotalCount: 1}, job.HandlerFunc(nothing))
				added <- err
				return nil
			}
			require.NoError(t, errOf(s.Add(t.Context(), jobOf(1), c.record("a", adds))))
			stopsSoon(t, s, after)
			if len(adding) > 0 {
				if err := <-added; err != nil {
					require.ErrorIs(t, err, scheduler.ErrStopped)
				} else {
					joined++
				}
				require.NoError(t, c.take()[0].cause, "a stop after %s", after)
			}
			require.NoError(t, reg.Close(context.Background()))
		})
	}
	require.NotZero(t, joined)
	require.Less(t, joined, 20)
}
