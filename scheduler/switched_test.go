package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// What a job recorded before it stopped doing so says nothing of what ran since: no window reaches back to it.
func TestOldRecordsSayNothingOfWhatRanUnrecorded(t *testing.T) {
	t.Parallel()
	for _, policy := range []job.MisfirePolicy{job.MisfireAll, job.MisfireOnce} {
		for name, story := range map[string]func(c *cluster, a *instance, cfg job.Config){
			"a process starts anew": func(c *cluster, a *instance, cfg job.Config) { a.stop(c.t); c.start("c", nil, cfg) },
			"a process joins":       func(c *cluster, _ *instance, cfg job.Config) { c.start("c", nil, cfg) },
			"a process leaves": func(c *cluster, a *instance, cfg job.Config) {
				c.start("c", nil, cfg)
				sleepUntil(38 * time.Second)
				a.stop(c.t)
			},
		} {
			t.Run(fmt.Sprintf("%s, %s", policy, name), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					c.t = t
					cfg := jobOf(2)
					cfg.Misfire, cfg.MisfireWindow = policy, time.Minute
					a := c.start("a", nil, cfg)
					sleepUntil(6 * time.Second)
					cfg.Unmonitored = true
					c.change(cfg)
					sleepUntil(32 * time.Second)
					require.Len(t, c.take(), 2*6)
					story(c, a, cfg)
					sleepUntil(44 * time.Second)
					for _, r := range c.take() {
						require.Greater(t, r.sc.Fire.Sub(bubbleStart), 30*time.Second, "%s", r)
					}
				})
			})
		}
	}
}

// What waits to be run again when a job stops recording is given up then, and so is what is found to be lost later: when the
// job records again, it is not run again after all that has run since.
func TestALostExecutionOfAJobThatStopsRecording(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		crashes  time.Duration // of the process that runs it
		switches time.Duration
		disabled bool // the item, until it is recorded again
		failover bool // is still stored as on, as others write it
	}{
		"it waits already":       {crashes: 6 * time.Second, switches: 12 * time.Second},
		"its item is disabled":   {crashes: 6 * time.Second, switches: 12 * time.Second, disabled: true},
		"it runs yet":            {crashes: 9 * time.Second, switches: 7 * time.Second},
		"failover is stored yet": {crashes: 9 * time.Second, switches: 7 * time.Second, failover: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(1)
				cfg.Failover, cfg.FailoverScope = true, job.FailoverAssigned
				a := c.start("a", func(ctx context.Context, _ job.ShardingContext) error { <-ctx.Done(); return ctx.Err() }, cfg)
				unrecorded := cfg
				unrecorded.Unmonitored, unrecorded.Failover = true, test.failover
				sleepUntil(min(test.crashes, test.switches))
				if test.disabled {
					put(t, c.server, orders.ItemDisabled(0), "")
				}
				if test.crashes < test.switches {
					a.crash(t)
					sleepUntil(test.switches)
					c.change(unrecorded)
				} else {
					c.change(unrecorded)
					sleepUntil(test.crashes)
					a.crash(t)
				}
				c.start("b", nil, jobOf(1))
				sleepUntil(30 * time.Second)
				require.Equal(t, jobtree.ItemInterrupted, c.state().Item(0).Record.Value.State)
				require.Empty(t, c.state().FailoverItems)
				sleepUntil(2*time.Minute + time.Second)
				c.take()
				c.change(cfg)
				sleepUntil(2*time.Minute + 2*time.Second)
				if test.disabled {
					remove(t, c.server, orders.ItemDisabled(0))
				}
				sleepUntil(2*time.Minute + 6*time.Second)
				require.Equal(t, []string{"item 0 fire 2m5s scheduled on b"}, c.shown())
			})
		})
	}
}

// What is noted as missed, and counts for nothing by other settings, is forgotten: it does not come back when they are changed
// back. Other changes forget nothing.
func TestForgottenFiresStayForgotten(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*job.Config)
		want   bool
	}{
		"another cron":           {func(cfg *job.Config) { cfg.Cron = "30 * * * * ?" }, false},
		"a fixed delay":          {func(cfg *job.Config) { cfg.Cron = "@delay 20s" }, false},
		"nothing is made up":     {func(cfg *job.Config) { cfg.Misfire = job.MisfireSkip }, false},
		"nothing is recorded":    {func(cfg *job.Config) { cfg.Unmonitored = true }, false},
		"all missed are made up": {func(cfg *job.Config) { cfg.Misfire = job.MisfireAll }, true},
		"another parameter":      {func(cfg *job.Config) { cfg.JobParameter = "new" }, true},
		"a jitter":               {func(cfg *job.Config) { cfg.Jitter = time.Second }, true},
	} {
		for _, enabled := range []bool{false, true} { // before the settings are changed back
			t.Run(fmt.Sprintf("%s, enabled %t", name, enabled), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					cfg := jobOf(1)
					a := c.start("a", slowOnce(8*time.Second), cfg)
					sleepUntil(11 * time.Second) // has missed the fire of second 10
					put(t, c.server, orders.ItemDisabled(0), "")
					c.start("b", nil, cfg)
					sleepUntil(14 * time.Second)
					a.stop(t)
					require.True(t, c.state().Item(0).Misfire.Exists())
					changed := cfg
					test.change(&changed)
					c.change(changed)
					sleepUntil(16 * time.Second)
					if enabled {
						remove(t, c.server, orders.ItemDisabled(0))
					} else {
						require.Equal(t, test.want, c.state().Item(0).Misfire.Exists())
					}
					sleepUntil(5*time.Minute + time.Second)
					missed := firesOf(c.take())[0][10]
					c.change(cfg)
					sleepUntil(5*time.Minute + 2*time.Second)
					if !enabled {
						remove(t, c.server, orders.ItemDisabled(0))
					}
					sleepUntil(5*time.Minute + 4*time.Second)
					again := firesOf(c.take())[0][10]
					switch {
					case !test.want:
						require.Zero(t, missed+again)
					default:
						require.Equal(t, 1, missed+again)
					}
				})
			})
		}
	}
}

// What came under other times is forgotten by an owner that has nothing to begin for a while, too.
func TestNotesOfOtherTimesAreForgottenBeforeTheNextFire(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(1)
		a := c.start("a", slowOnce(8*time.Second), cfg)
		sleepUntil(11 * time.Second)
		put(t, c.server, orders.ItemDisabled(0), "")
		sleepUntil(14 * time.Second)
		a.stop(t)
		require.True(t, c.state().Item(0).Misfire.Exists())
		changed := cfg
		changed.Cron = "0 0 * * * ?"
		c.change(changed)
		remove(t, c.server, orders.ItemDisabled(0))
		c.start("b", nil, cfg)
		sleepUntil(61 * time.Second)
		c.change(cfg)
		sleepUntil(66 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s scheduled on a", "item 0 fire 1m5s scheduled on b"}, c.shown())
	})
}

// What a job has dropped while it made nothing up stays dropped when it does, also where an item moves to who has ticked it
// all. The fire of the last moment is none of that: it may have come when the job made missed ones up already.
func TestDroppedFiresStayDropped(t *testing.T) {
	t.Parallel()
	for _, policy := range []job.MisfirePolicy{job.MisfireAll, job.MisfireOnce} {
		for name, test := range map[string]struct {
			window   time.Duration
			switches time.Duration
			madeUp   int // fires
		}{
			"the item moves":                   {0, 40 * time.Second, 0},
			"the item moves, and a window is":  {time.Minute, 40 * time.Second, 0},
			"a fire has come just before that": {0, 16 * time.Second, 1},
		} {
			t.Run(fmt.Sprintf("%s, %s", policy, name), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					cfg := job.Config{Name: "orders", Cron: "5,10,15 0 * * * ?", ShardingTotalCount: 2, Misfire: job.MisfireSkip}
					cfg.MisfireWindow = test.window
					a := c.start("a", slowOnce(14*time.Second), cfg)
					c.start("b", slowOnce(14*time.Second), cfg)
					sleepUntil(test.switches)
					cfg.Misfire = policy
					c.change(cfg)
					sleepUntil(test.switches + time.Second)
					a.crash(t)
					sleepUntil(75 * time.Second)
					fires := []time.Duration{}
					for _, r := range c.take() {
						if r.sc.Source == job.Misfire {
							require.Equal(t, "b", r.instance)
							fires = append(fires, r.sc.Fire.Sub(bubbleStart))
						}
					}
					require.Equal(t, []time.Duration{15 * time.Second}[:test.madeUp], fires)
				})
			})
		}
	}
}
