package scheduler_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/cronexpr"
	"github.com/elasticron/elasticron/internal/jitter"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// delayed returns a job that runs a minute after its last run was over.
func delayed(total int) job.Config {
	return job.Config{Name: "orders", Cron: "@delay 1m", ShardingTotalCount: total}
}

// took is work that takes so long.
func took(d time.Duration) job.HandlerFunc {
	return func(ctx context.Context, _ job.ShardingContext) error {
		select {
		case <-time.After(max(time.Nanosecond, d)):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// begins returns when the runs of an item began, in whole seconds since the bubble did.
func begins(runs []run, item int) []int {
	var all []int
	for _, r := range runs {
		if r.sc.Item == item {
			all = append(all, int(r.began.Sub(bubbleStart)/time.Second))
		}
	}
	return all
}

// A job with a fixed delay runs at once, and again so long after the end of each run, each item for
// itself.
func TestAFixedDelayCountsFromTheEnd(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		work := func(ctx context.Context, sc job.ShardingContext) error {
			return took(time.Duration(sc.Item*30)*time.Second)(ctx, sc)
		}
		c.start("a", work, delayed(2))
		sleepUntil(5 * time.Minute)
		runs := c.take()
		require.Equal(t, []int{0, 60, 120, 180, 240}, begins(runs, 0)[:5])
		require.Equal(t, []int{0, 90, 180}, begins(runs, 1))
		for _, r := range runs {
			require.Equal(t, job.Scheduled, r.sc.Source)
		}
	})
}

// Whoever owns the item then goes on counting from the same end, and a run by hand counts, too.
func TestAFixedDelayOutlastsItsInstance(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, delayed(1))
		b := c.start("b", nil, delayed(1))
		sleepUntil(30 * time.Second)
		require.Len(t, c.take(), 1)
		a.crash(t)
		sleepUntil(70 * time.Second)
		runs := c.take()
		require.Len(t, runs, 1)
		require.Equal(t, "b", runs[0].instance)
		require.Equal(t, []int{60}, begins(runs, 0))

		sleepUntil(80 * time.Second)
		trigger(t, b)
		sleepUntil(150 * time.Second)
		runs = c.take()
		require.Equal(t, []int{80, 140}, begins(runs, 0))
		require.Equal(t, []job.Source{job.Manual, job.Scheduled}, []job.Source{runs[0].sc.Source, runs[1].sc.Source})
	})
}

// A fire of a job with a fixed delay is never too late: after an outage of all it runs at once, as
// scheduled. And it is never run twice.
func TestAFixedDelayIsNeverTooLate(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, delayed(1))
		sleepUntil(10 * time.Second)
		a.stop(t)
		c.take()
		sleepUntil(time.Hour)
		c.start("b", nil, delayed(1))
		c.start("c", nil, delayed(1))
		sleepUntil(time.Hour + 30*time.Second)
		runs := c.take()
		require.Len(t, runs, 1)
		require.Equal(t, job.Scheduled, runs[0].sc.Source)
		require.Equal(t, time.Minute, runs[0].sc.Fire.Sub(bubbleStart).Round(time.Second))
	})
}

// A run by hand that was taken back before it started, as it waited for its turn, does not put off what is
// due after the last run that was one.
func TestAFixedDelayDoesNotCountFromWhatNeverStarted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := delayed(2)
		cfg.MaxConcurrentItems = 1
		work := func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Source == job.Manual {
				return took(time.Minute)(ctx, sc)
			}
			return nil
		}
		a := c.start("a", work, cfg)
		sleepUntil(30 * time.Second)
		require.Len(t, c.take(), 2)
		triggerByValue(t, c, "a") // which goes with the session
		sleepUntil(40 * time.Second)
		require.Equal(t, jobtree.ItemRunning, c.state().Item(0).Record.Value.State)
		require.Equal(t, jobtree.ItemRunning, c.state().Item(1).Record.Value.State)
		a.registry.Expire()
		sleepUntil(70 * time.Second)
		runs := c.take()
		require.Len(t, runs, 2, "one by hand that was cut short, and the fire of the other item: %v", runs)
		waited := 1 - runs[0].sc.Item
		require.Equal(t, job.Scheduled, runs[1].sc.Source)
		require.Equal(t, []int{60}, begins(runs, waited))
	})
}

// What a crash cut short is run again first, and the delay counts from the end of that.
func TestAFixedDelayAfterAFailover(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := delayed(1)
		cfg.Failover = true
		a := c.start("a", hang, cfg)
		sleepUntil(10 * time.Second)
		a.crash(t)
		c.take()
		c.start("b", took(20*time.Second), cfg)
		sleepUntil(3 * time.Minute)
		runs := c.take()
		require.GreaterOrEqual(t, len(runs), 2)
		require.Equal(t, job.Failover, runs[0].sc.Source)
		require.Equal(t, job.Scheduled, runs[1].sc.Source)
		require.Equal(t, time.Minute, runs[1].began.Sub(runs[0].ended).Round(time.Second))
	})
}

func TestAFixedDelayWithinAWindow(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := delayed(1)
		cfg.StartTime, cfg.EndTime = bubbleStart.Add(10*time.Minute), bubbleStart.Add(12*time.Minute)
		c.start("a", nil, cfg)
		sleepUntil(time.Hour)
		require.Equal(t, []int{600, 660, 720}, begins(c.take(), 0))
	})
}

// A job that is only triggered has no fires, and all else that jobs have.
func TestAJobThatIsOnlyTriggered(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: cronexpr.Triggered, ShardingTotalCount: 2}
		cfg.Failover = true
		a := c.start("a", nil, cfg)
		sleepUntil(time.Hour)
		require.Empty(t, c.take())
		trigger(t, a)
		sleepUntil(time.Hour + time.Second)
		require.Equal(t, []string{"item 0 fire by hand manual on a", "item 1 fire by hand manual on a"}, c.shown())
		sleepUntil(2 * time.Hour)
		require.Empty(t, c.take())
		a.stop(t)
	})
}

func TestFiresWithinAWindow(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(1)
		cfg.StartTime, cfg.EndTime = bubbleStart.Add(30*time.Second), bubbleStart.Add(40*time.Second)
		c.start("a", nil, cfg)
		sleepUntil(time.Hour)
		require.Equal(t, []int{30, 35, 40}, begins(c.take(), 0))
	})
}

// With jitter, fires begin late by amounts that differ between jobs and fires and are the same
// everywhere, and remain what they are.
func TestJitterSpreadsFires(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const most = 30 * time.Second
		var configs []job.Config
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			cfg := job.Config{Name: name, Cron: "0 * * * * ?", ShardingTotalCount: 2}
			cfg.Jitter = most
			configs = append(configs, cfg)
		}
		c.start("a", nil, configs...)
		c.start("b", nil, configs...)
		sleepUntil(10*time.Minute + 59*time.Second)
		runs := c.take()
		require.Len(t, runs, 8*2*11, "the first is the one that has come and is not told of")
		type fire struct {
			job string
			at  time.Time
		}
		late, distinct := make(map[fire]time.Duration), make(map[time.Duration]bool)
		for _, r := range runs {
			require.Equal(t, job.Scheduled, r.sc.Source)
			require.Zero(t, r.sc.Fire.Second())
			by := r.began.Sub(r.sc.Fire)
			require.True(t, 0 <= by && by <= most, by)
			key := fire{r.sc.JobName, r.sc.Fire}
			if _, seen := late[key]; seen {
				require.Equal(t, late[key], by, "both items, on whatever instance, begin together")
			}
			late[key], distinct[by] = by, true
		}
		require.Greater(t, len(distinct), 60)
	})
}

// Where no record says whether somebody ran for a fire, items that move after it was told of do not run again for it, and a
// change of the jitter does not bring it back.
func TestUnmonitoredItemsThatMoveAroundADelayedFire(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		joins, leaves time.Duration
		jitter        time.Duration // later on
		pauses        bool          // the job, while the fire is delayed
	}{
		"one was there all the time": {joins: time.Hour + 55*time.Minute, leaves: 2*time.Hour + 30*time.Minute},
		"one came meanwhile":         {joins: 2*time.Hour + 3*time.Minute, leaves: 2*time.Hour + 30*time.Minute},
		"the job pauses meanwhile":   {joins: time.Hour, leaves: 2*time.Hour + 30*time.Minute, pauses: true},
		"the jitter is changed":      {joins: time.Hour, leaves: 2*time.Hour + 11*time.Minute, jitter: 58 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 4, Jitter: 50 * time.Minute}
				cfg.Unmonitored = true
				a := c.start("a", nil, cfg)
				sleepUntil(test.joins)
				b := c.start("b", nil, cfg)
				if test.pauses {
					tree := jobtree.For("orders")
					stored, err := b.registry.Get(t.Context(), tree.Config())
					require.NoError(t, err)
					sleepUntil(2*time.Hour + 2*time.Minute)
					put(t, c.server, tree.Config(), strings.Replace(stored.Value, cfg.Cron, "never", 1))
					sleepUntil(2*time.Hour + 3*time.Minute)
					put(t, c.server, tree.Config(), stored.Value)
				}
				sleepUntil(test.leaves)
				a.stop(t)
				if test.jitter != 0 {
					fire := time.Now().UTC().Truncate(time.Hour)
					require.True(t, fire.Add(jitter.Jitter{Job: "orders", Most: test.jitter}.Of(fire)).After(time.Now()), "it is to come again")
					j, err := b.Job("orders")
					require.NoError(t, err)
					require.NoError(t, j.Update(t.Context(), func(c *job.Config) error { c.Jitter = test.jitter; return nil }))
				}
				sleepUntil(3*time.Hour - time.Minute)
				fires := make(map[time.Time]int)
				for _, r := range c.take() {
					fires[r.sc.Fire]++
				}
				first := time.Now().UTC().Truncate(time.Hour).Add(-2 * time.Hour)
				require.Equal(t, map[time.Time]int{first: 4, first.Add(time.Hour): 4, first.Add(2 * time.Hour): 4}, fires)
			})
		})
	}
}

// Items that come to an instance between a fire and the end of its jitter begin when they would have anyway, also if the
// instance was not there when the fire came, whether or not it looks for what it missed.
func TestItemsThatMoveWhileAFireIsDelayed(t *testing.T) {
	t.Parallel()
	for _, window := range []time.Duration{0, 30 * time.Minute, time.Hour} {
		inBubble(t, func(t *testing.T, c *cluster) {
			fire := time.Now().Add(2 * time.Hour)
			cfg := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 4}
			cfg.Jitter, cfg.Misfire, cfg.MisfireWindow = 50*time.Minute, job.MisfireAll, window
			delay := jitter.Jitter{Job: "orders", Most: cfg.Jitter}.Of(fire)
			require.Greater(t, delay, 7*time.Minute)
			a := c.start("a", nil, cfg)
			sleepUntil(2*time.Hour + 3*time.Minute)
			require.Len(t, c.take(), 2*4, "for the fires before")
			c.start("b", nil, cfg)
			sleepUntil(2*time.Hour + 6*time.Minute)
			a.stop(t)
			require.Empty(t, c.take())
			sleepUntil(2*time.Hour + 51*time.Minute)
			runs := c.take()
			require.Len(t, runs, 4)
			for _, r := range runs {
				require.Equal(t, "b", r.instance)
				require.Equal(t, job.Scheduled, r.sc.Source)
				require.True(t, fire.Equal(r.sc.Fire))
				require.WithinDuration(t, fire.Add(delay), r.began, time.Second)
			}
		})
	}
}

// A change of the jitter moves the begin of a fire and not the fire: one that has come and waits is told of once, and is on
// time then, whatever becomes of missed ones.
func TestTheJitterIsChanged(t *testing.T) {
	t.Parallel()
	for n := range 6 {
		unmonitored, misfire := n%2 == 1, []job.MisfirePolicy{job.MisfireOnce, job.MisfireAll, job.MisfireSkip}[n/2]
		for _, to := range []time.Duration{0, 10 * time.Second, 40 * time.Minute, 59 * time.Minute} {
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 4, Jitter: 50 * time.Minute, Unmonitored: unmonitored}
				cfg.Misfire = misfire
				fire := bubbleStart.Add(2 * time.Hour)
				was, will := delayOf(cfg, fire), cfg
				require.Greater(t, was, 7*time.Minute)
				c.start("a", nil, cfg)
				c.start("b", nil, cfg)
				sleepUntil(2*time.Hour + 6*time.Minute)
				c.take()
				will.Jitter = to
				c.change(will)
				sleepUntil(3*time.Hour - time.Second)
				runs := c.take()
				require.Len(t, runs, 4, "jitter %s, unmonitored %t", to, unmonitored)
				for _, r := range runs {
					require.True(t, fire.Equal(r.sc.Fire))
					require.Equal(t, job.Scheduled, r.sc.Source, "nothing kept it from running")
					require.WithinDuration(t, fire.Add(max(6*time.Minute, delayOf(will, fire))), r.began, time.Second)
				}
			})
		}
	}
}

// A fire that was told of is not told of again if the jitter is changed while the job pauses: without records nobody would know
// that it has run.
func TestTheJitterIsChangedDuringAPause(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "0 0 * * * ?", ShardingTotalCount: 2, Jitter: 50 * time.Minute, Unmonitored: true}
		later, fire := cfg, bubbleStart.Add(2*time.Hour)
		for later.Jitter += time.Minute; delayOf(later, fire) < delayOf(cfg, fire)+time.Minute; later.Jitter += time.Second {
		}
		c.start("a", nil, cfg)
		sleepUntil(2*time.Hour + delayOf(cfg, fire) + 10*time.Second)
		require.NotEmpty(t, c.take())
		put(t, c.server, orders.Config(), "{broken")
		time.Sleep(5 * time.Second)
		c.change(later)
		sleepUntil(3 * time.Hour)
		require.Empty(t, c.take())
		sleepUntil(4 * time.Hour)
		require.Len(t, c.take(), 2)
	})
}

// delayOf returns by how much a job's jitter delays a fire.
func delayOf(cfg job.Config, fire time.Time) time.Duration {
	return jitter.Jitter{Job: cfg.Name, Most: cfg.Jitter}.Of(fire)
}

// What an item missed before a change of the jitter is made up after it, also if it moves meanwhile.
func TestMissedFiresOutlastAChangeOfTheJitter(t *testing.T) {
	t.Parallel()
	for _, moves := range []bool{false, true} {
		inBubble(t, func(t *testing.T, c *cluster) {
			slow := func(_ context.Context, sc job.ShardingContext) error {
				if sc.Fire.Equal(bubbleStart.Add(5 * time.Second)) {
					time.Sleep(17 * time.Second)
				}
				return nil
			}
			cfg := jobOf(1)
			cfg.Misfire = job.MisfireAll
			a := c.start("a", slow, cfg)
			sleepUntil(16 * time.Second)
			if moves {
				c.start("b", nil, cfg)
				go a.stop(t)
			}
			time.Sleep(time.Second)
			cfg.Jitter = 300 * time.Millisecond
			c.change(cfg)
			sleepUntil(24 * time.Second)
			on := map[bool]string{false: "a", true: "b"}[moves]
			require.Equal(t, []string{
				"item 0 fire 5s scheduled on a", "item 0 fire 10s misfire on " + on, "item 0 fire 15s misfire on " + on, "item 0 fire 20s misfire on " + on,
			}, c.shown())
		})
	}
}

// A job with a fixed delay goes on when the clock that it did not run by is right again.
func TestAFixedDelayAfterAClockThatWasRefused(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := delayed(1)
		cfg.MaxTimeDiff, cfg.ClockPolicy, cfg.ReconcileInterval = 5*time.Second, job.ClockRefuse, -1
		set := c.skewed(cfg)
		sleepUntil(90 * time.Second)
		require.Len(t, c.take(), 2)
		set(10 * time.Second)
		sleepUntil(10 * time.Minute)
		c.take()
		set(0)
		sleepUntil(15 * time.Minute)
		require.GreaterOrEqual(t, len(c.take()), 3)
	})
}

// An end that a clock recorded which is far ahead does not keep a job with a fixed delay waiting for it.
func TestAFixedDelayAfterABrokenClock(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		set := c.skewed(delayed(1))
		sleepUntil(30 * time.Second)
		set(20 * time.Minute)
		sleepUntil(61 * time.Second)
		set(0)
		c.take()
		sleepUntil(10 * time.Minute)
		require.GreaterOrEqual(t, len(c.take()), 7)
	})
}
