package scheduler_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// failoverOf returns a job with failover that fires at second 5 of each minute.
func failoverOf(total int) job.Config {
	cfg := job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: total}
	cfg.Failover = true
	return cfg
}

// hang is work that never ends by itself.
func hang(ctx context.Context, _ job.ShardingContext) error {
	<-ctx.Done()
	return context.Cause(ctx)
}

func TestWhatWasRunningIsRunAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", hang, failoverOf(4))
		c.start("b", nil, failoverOf(4))
		sleepUntil(6 * time.Second)
		first := c.state()
		c.take()
		a.crash(t)
		c.take() // the crashed process's own view of its end
		sleepUntil(12 * time.Second)
		runs := c.take()
		require.Len(t, runs, 2, "the two items of a")
		for _, r := range runs {
			require.Equal(t, "b", r.instance)
			require.Equal(t, job.Failover, r.sc.Source)
			require.Equal(t, bubbleStart.Add(5*time.Second), r.sc.Fire)
			require.Greater(t, r.sc.Token, int64(first.Item(r.sc.Item).Running.Created))
		}
	})
}

func TestAnIdleInstanceLeavesNothingToRunAgain(t *testing.T) {
	t.Parallel()
	for name, go_ := range map[string]func(*instance, *testing.T){
		"crash": (*instance).crash,
		"stop":  (*instance).stop,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				a := c.start("a", nil, failoverOf(4))
				c.start("b", nil, failoverOf(4))
				sleepUntil(10 * time.Second)
				c.take()
				go_(a, t)
				sleepUntil(64 * time.Second)
				require.Empty(t, c.take())
			})
		})
	}
}

// With the scope of 2.x, every item of a crashed instance is run again, but none of one that left.
func TestFailoverOfAllThatWasAssigned(t *testing.T) {
	t.Parallel()
	cfg := failoverOf(4)
	cfg.FailoverScope = job.FailoverAssigned
	for name, test := range map[string]struct {
		leave func(*instance, *testing.T)
		want  []string
	}{
		"crash": {
			leave: (*instance).crash,
			want:  []string{"item 2 fire 5s failover on b", "item 3 fire 5s failover on b"},
		},
		"stop": {leave: (*instance).stop},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				a := c.start("a", nil, cfg)
				c.start("b", nil, cfg)
				sleepUntil(10 * time.Second)
				c.take()
				test.leave(a, t)
				sleepUntil(20 * time.Second)
				require.Equal(t, test.want, c.shown())
				require.Empty(t, c.state().Left)
				sleepUntil(66 * time.Second)
				require.Len(t, c.take(), 4, "the next fire")
			})
		})
	}
}

// The leader leaves just as another instance crashes: it does not give that one's items away, as nobody would know any more
// that they are to be run again. The next leader has them run.
func TestALeaderLeavesJustAsAnotherInstanceCrashes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := failoverOf(6)
		cfg.FailoverScope = job.FailoverAssigned
		a, b := c.start("a", nil, cfg), c.start("b", nil, cfg)
		c.start("c", nil, cfg)
		sleepUntil(10 * time.Second)
		require.Equal(t, fullID("a"), c.state().Leader.Instance)
		var want []string
		for item := range 6 {
			if c.state().Owner(item) == fullID("b") {
				want = append(want, fmt.Sprintf("item %d fire 5s failover on c", item))
			}
		}
		require.Len(t, want, 2)
		c.take()
		a.registry.Cut() // so that it leaves before it has seen the crash, and is told of both at once
		b.crash(t)
		b.registry.Expire()
		a.cancel()
		sleepUntil(10100 * time.Millisecond)
		a.registry.Heal()
		sleepUntil(20 * time.Second)
		require.Equal(t, want, c.shown())
		require.Equal(t, fullID("c"), c.state().Leader.Instance)
	})
}

// The registry refuses to have the items of a crashed instance run again, as their records have just changed: the leader tries
// anew before it gives them to others.
func TestItemsOfACrashedInstanceChangeMeanwhile(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := failoverOf(4)
		cfg.FailoverScope = job.FailoverAssigned
		a, b := c.start("a", nil, cfg), c.start("b", nil, cfg)
		sleepUntil(10 * time.Second)
		require.Equal(t, fullID("a"), c.state().Leader.Instance)
		require.Equal(t, fullID("b"), c.state().Owner(0))
		require.Equal(t, fullID("b"), c.state().Owner(1))
		c.take()
		a.registry.SetLatency(200 * time.Millisecond)
		b.crash(t)
		b.registry.Expire()
		sleepUntil(10300 * time.Millisecond) // the leader has seen it, and its requests are on their way
		for item := range 2 {
			put(t, c.server, ofOrders.ItemRecord(item), stored(t, c.server)[ofOrders.ItemRecord(item)])
		}
		sleepUntil(20 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s failover on a", "item 1 fire 5s failover on a"}, c.shown())
	})
}

// Whoever runs a lost execution may be lost, too, until the limit is reached; then the next fire runs.
func TestASecondAndThirdCrash(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]int{-1: 4, 2: 2} {
		inBubble(t, func(t *testing.T, c *cluster) {
			cfg := failoverOf(1)
			cfg.FailoverLimit = limit
			reruns := 0
			for n, id := range []string{"a", "b", "c", "d", "e"} {
				i := c.start(id, hang, cfg)
				sleepUntil(time.Duration(6+10*n) * time.Second)
				if current := c.state().Item(0).Record.Value; current.State == jobtree.ItemRunning {
					reruns = current.Reruns
				}
				if id != "e" {
					i.crash(t)
				}
			}
			require.Equal(t, want, reruns)
		})
	}
}

// All instances die, and the item is run again by whoever comes, hours later.
func TestAllInstancesDieAndComeBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "5 0 0 * * ?", ShardingTotalCount: 2}
		cfg.Failover = true
		a, b := c.start("a", hang, cfg), c.start("b", hang, cfg)
		sleepUntil(6 * time.Second)
		a.crash(t)
		b.crash(t)
		c.take()
		sleepUntil(3 * time.Hour)
		c.start("a", nil, cfg)
		sleepUntil(3*time.Hour + time.Second)
		require.Equal(t, []string{"item 0 fire 5s failover on a", "item 1 fire 5s failover on a"}, c.shown())
	})
}

// Failover is switched off while an item waits: it is not run again, and its next fire runs.
func TestFailoverIsSwitchedOffWhileAnItemWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", hang, failoverOf(1))
		sleepUntil(6 * time.Second)
		a.crash(t)
		c.take()
		sleepUntil(20 * time.Second)
		cfg := failoverOf(1)
		cfg.Failover = false
		c.change(cfg)
		c.start("b", nil, cfg)
		sleepUntil(66 * time.Second)
		require.Equal(t, []string{"item 0 fire 1m5s scheduled on b"}, c.shown())
		require.Empty(t, c.state().FailoverItems)
	})
}

func TestADisabledItemIsNotRunAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", hang, failoverOf(1))
		sleepUntil(6 * time.Second)
		put(t, c.server, "/orders/sharding/0/disabled", "")
		a.crash(t)
		c.take()
		c.start("b", nil, failoverOf(1))
		sleepUntil(50 * time.Second)
		require.Empty(t, c.take())
		remove(t, c.server, "/orders/sharding/0/disabled")
		sleepUntil(51 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s failover on b"}, c.shown())
	})
}

// A script does not hear the end of its context. It is ended before the next owner runs its item, and has until then nearly all of
// the time that there is; one that a stop has told to end has as long as it ever has.
func TestWhatDoesNotHearItsContextIsEndedBeforeTheRerun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var cancelled, ended time.Time
		script := func(ctx context.Context, _ job.ShardingContext) error {
			gone := make(chan struct{})
			off := execution.BeforeOthers(ctx, func() { close(gone) })
			<-ctx.Done()
			cancelled = time.Now()
			<-gone
			ended = time.Now()
			return off()
		}
		var rerun time.Time
		again := func(_ context.Context, sc job.ShardingContext) error {
			if sc.Source == job.Failover {
				rerun = time.Now()
			}
			return nil
		}
		a := c.start("a", script, failoverOf(2))
		c.start("b", again, failoverOf(2))
		sleepUntil(6 * time.Second)
		a.registry.Cut()
		sleepUntil(20 * time.Second)
		require.True(t, ended.After(cancelled.Add(500*time.Millisecond)), "%s after it was told", ended.Sub(cancelled))
		require.True(t, rerun.After(ended), "the rerun begins %s after the end", rerun.Sub(ended))
		a.registry.Heal()
	})
}
