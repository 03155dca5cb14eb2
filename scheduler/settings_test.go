package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/sharding"
)

// change writes a new configuration of "orders", as an operator would.
func (c *cluster) change(cfg job.Config) {
	c.t.Helper()
	put(c.t, c.server, "/orders/config", mustEncode(cfg))
}

func TestTheCountIsRaisedAndLowered(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(4))
		c.start("b", nil, jobOf(4))
		for i, total := range []int{9, 3, 5} {
			fire := time.Duration(i+1) * 10 * time.Second
			sleepUntil(fire - 2*time.Second)
			c.take()
			c.change(jobOf(total))
			sleepUntil(fire + time.Second)
			runs := c.take()
			require.Len(t, runs, total)
			for n, r := range runs {
				require.Equal(t, n, r.sc.Item)
				require.Equal(t, total, r.sc.TotalCount)
			}
		}
	})
}

func TestTheCronIsChanged(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(1))
		sleepUntil(6 * time.Second)
		c.take()
		cfg := jobOf(1)
		cfg.Cron = "0 0/10 * * * ?"
		c.change(cfg)
		sleepUntil(9 * time.Minute)
		require.Empty(t, c.take())
		sleepUntil(11 * time.Minute)
		require.Len(t, c.take(), 1)
	})
}

// A fire that both crons have runs, whichever was in force when it came: the instance hears of the change a moment after it was
// stored, and what it begins by the former one is refused. One that the new cron does not have is none.
func TestTheCronIsChangedJustBeforeAFire(t *testing.T) {
	t.Parallel()
	for _, before := range []time.Duration{time.Millisecond, 100 * time.Millisecond, 190 * time.Millisecond} {
		for name, test := range map[string]struct {
			cron string
			want []string
		}{
			"both have it": {"0/2 * * * * ?", []string{"item 0 fire 10s scheduled on a", "item 0 fire 12s scheduled on a"}},
			"one has not":  {"3/4 * * * * ?", []string{"item 0 fire 11s scheduled on a"}},
		} {
			t.Run(fmt.Sprint(name, " ", before), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					cfg := jobOf(1)
					a := c.start("a", nil, cfg)
					sleepUntil(6 * time.Second)
					a.registry.SetLatency(200 * time.Millisecond)
					sleepUntil(10*time.Second - before)
					c.take()
					cfg.Cron = test.cron
					c.change(cfg)
					sleepUntil(12*time.Second + 900*time.Millisecond)
					require.Equal(t, test.want, c.shown())
				})
			})
		}
	}
}

func TestTheZoneIsChanged(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "0 0 9 * * ?", ShardingTotalCount: 1}
		c.start("a", nil, cfg)
		sleepUntil(time.Minute)
		cfg.TimeZone = "Europe/Berlin"
		c.change(cfg)
		sleepUntil(8*time.Hour + time.Minute)
		runs := c.take()
		require.Len(t, runs, 1)
		require.Equal(t, bubbleStart.Add(8*time.Hour), runs[0].sc.Fire)
	})
}

// Jobs of one period are set apart by their offsets, also while they run.
func TestTheOffsetIsChanged(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "@every 20s", ShardingTotalCount: 1}
		cfg.Offset = 7 * time.Second
		c.start("a", nil, cfg)
		sleepUntil(30 * time.Second)
		cfg.Offset = 33 * time.Second
		c.change(cfg)
		sleepUntil(60 * time.Second)
		require.Equal(t, []string{
			"item 0 fire 7s scheduled on a", "item 0 fire 27s scheduled on a",
			"item 0 fire 33s scheduled on a", "item 0 fire 53s scheduled on a",
		}, c.shown())
	})
}

// A job pauses while its configuration cannot be used, and goes on when it can.
func TestAnUnreadableConfigurationPausesTheJob(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(1))
		sleepUntil(6 * time.Second)
		c.take()
		put(t, c.server, "/orders/config", "oops")
		sleepUntil(21 * time.Second)
		require.Empty(t, c.take())
		c.change(jobOf(1))
		sleepUntil(26 * time.Second)
		require.Len(t, c.take(), 1)
	})
}

// What an item has missed before its job's configuration cannot be read for a while, it makes up
// afterwards, but not under another cron.
func TestMissedFiresOutlastAnUnreadableConfiguration(t *testing.T) {
	t.Parallel()
	for cron, want := range map[string][]string{
		"5,10 * * * * ?":    {"item 0 fire 5s scheduled on a", "item 0 fire 10s misfire on a"},
		"5,10,50 * * * * ?": {"item 0 fire 5s scheduled on a"},
	} {
		t.Run(cron, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "5,10 * * * * ?", ShardingTotalCount: 1}
				c.start("a", slowOnce(22*time.Second), cfg)
				sleepUntil(15 * time.Second)
				put(t, c.server, "/orders/config", "oops")
				sleepUntil(20 * time.Second)
				cfg.Cron = cron
				c.change(cfg)
				sleepUntil(40 * time.Second)
				require.Equal(t, want, c.shown())
			})
		})
	}
}

func TestADisabledItemDoesNotRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(2))
		put(t, c.server, "/orders/sharding/1/disabled", "")
		sleepUntil(6 * time.Second)
		trigger(t, a)
		sleepUntil(7 * time.Second)
		runs := c.take()
		require.Len(t, runs, 2)
		for _, r := range runs {
			require.Zero(t, r.sc.Item)
		}
	})
}

func TestADisabledServerGetsNoItems(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(2))
		put(t, c.server, "/orders/servers/10.0.0.1", "DISABLED")
		sleepUntil(11 * time.Second)
		require.Empty(t, c.take())
		require.Zero(t, c.state().Leader, "a disabled instance does not lead")
		put(t, c.server, "/orders/servers/10.0.0.1", "")
		sleepUntil(16 * time.Second)
		require.Len(t, c.take(), 2)
	})
}

// A job that is declared as disabled starts so, once: an operator's later word is kept.
func TestADisabledJobStartsDisabled(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(1)
		cfg.Disabled = true
		a := c.start("a", nil, cfg)
		sleepUntil(6 * time.Second)
		require.Empty(t, c.take())
		put(t, c.server, "/orders/servers/10.0.0.1", "")
		sleepUntil(11 * time.Second)
		require.Empty(t, c.take(), "the job is disabled, whatever is said of a server")
		c.change(jobOf(1))
		a.stop(t)
		c.start("b", nil, cfg)
		sleepUntil(16 * time.Second)
		require.Len(t, c.take(), 1, "declared as disabled, and enabled by an operator since")
	})
}

func TestMonitoringIsSwitchedInMidRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(3 * time.Second); return nil }
		c.start("a", slow, jobOf(1))
		cfg := jobOf(1)
		cfg.Unmonitored = true
		sleepUntil(6 * time.Second)
		c.change(cfg)
		sleepUntil(9 * time.Second)
		require.False(t, c.state().Item(0).Running.Exists(), "a run ends as it began")
		sleepUntil(11 * time.Second)
		c.change(jobOf(1))
		sleepUntil(21 * time.Second)
		var tokens []bool
		for _, r := range c.take() {
			tokens = append(tokens, r.sc.Token != 0)
		}
		require.Equal(t, []bool{true, false, true}, tokens)
	})
}

func TestTheStrategyIsChanged(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(4))
		c.start("b", nil, jobOf(4))
		sleepUntil(time.Second)
		require.Equal(t, fullID("b"), c.state().Owner(0), "average allocation gives the first items to the last id")
		cfg := job.Config{Name: "orders", Cron: everyFive, ShardingTotalCount: 4}
		cfg.ShardingStrategy = sharding.NameRotate // the hash of "orders" is odd: by one of two
		c.change(cfg)
		sleepUntil(2 * time.Second)
		require.Equal(t, fullID("a"), c.state().Owner(0))
		cfg.ShardingStrategy = "by moon"
		c.change(cfg)
		sleepUntil(6 * time.Second)
		require.Zero(t, c.state().Leader, "nobody leads a job whose strategy nobody knows")
		require.Empty(t, c.take(), "nor does it run")
		cfg.ShardingStrategy = ""
		c.change(cfg)
		sleepUntil(11 * time.Second)
		require.Equal(t, fullID("b"), c.state().Owner(0))
		require.Len(t, c.take(), 4)
	})
}
