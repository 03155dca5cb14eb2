package scheduler_test

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// byHand returns the runs that somebody asked for.
func byHand(runs []run) (asked []run) {
	for _, r := range runs {
		if r.sc.Source == job.Manual {
			asked = append(asked, r)
		}
	}
	return asked
}

// Where a fire has always been missed when a run ends, a request still runs right after what runs, and the fires go on.
func TestARequestIsNotHeldUpByMissedFires(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*job.Config){
		"once":        func(cfg *job.Config) { cfg.Misfire = job.MisfireOnce },
		"all":         func(cfg *job.Config) { cfg.Misfire = job.MisfireAll },
		"skip":        func(cfg *job.Config) { cfg.Misfire = job.MisfireSkip },
		"delay":       func(cfg *job.Config) { cfg.Cron = "@delay 1ms" },
		"unmonitored": func(cfg *job.Config) { cfg.Unmonitored = true },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(2)
				cfg.Cron = "* * * * * ?"
				change(&cfg)
				a := c.start("a", took(2500*time.Millisecond), cfg)
				a.registry.SetLatency(2 * time.Millisecond)
				sleepUntil(10 * time.Second)
				for range 3 { // also if one request follows the other
					c.take()
					trigger(t, a)
					time.Sleep(10 * time.Second)
					runs := c.take()
					require.Len(t, byHand(runs), 2)
					require.GreaterOrEqual(t, len(runs), 6, "%v", runs)
				}
			})
		})
	}
}

// A request that lasts for ever is waited for without a busy loop.
func TestARequestForEver(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", took(time.Minute), yearly(1))
		sleepUntil(time.Second)
		trigger(t, a)
		sleepUntil(2 * time.Second)
		request, err := ordersOf(t, a).Trigger(t.Context(), scheduler.TriggerWithin(math.MaxInt64))
		require.NoError(t, err)
		runs, err := request.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, "success", runs[0].Outcome)
		require.Equal(t, 121*time.Second, time.Since(bubbleStart).Round(time.Second), "after the first")
	})
}

// A request runs once, also if the job begins or ceases to record its executions before the request ends, and items
// move then.
func TestARequestAndAChangeOfWhatIsRecorded(t *testing.T) {
	t.Parallel()
	for name, monitored := range map[string]bool{"recorded at first": true, "recorded later": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := yearly(4)
				a, b := c.start("a", nil, cfg), c.start("b", nil, cfg)
				sleepUntil(time.Second)
				trigger(t, a) // so that there are records
				sleepUntil(2 * time.Second)
				cfg.Unmonitored = !monitored
				c.change(cfg)
				sleepUntil(3 * time.Second)
				c.take()
				trigger(t, a)
				sleepUntil(4 * time.Second)
				require.Len(t, c.take(), 4)
				cfg.Unmonitored = monitored
				c.change(cfg)
				sleepUntil(5 * time.Second)
				require.Empty(t, c.take())
				b.stop(t)
				sleepUntil(6 * time.Second)
				c.start("c", nil, cfg)
				sleepUntil(10 * time.Minute)
				require.Empty(t, c.take())
			})
		})
	}
}

// What Java instances ran for a request is not run again when processes start that know of no Java instances.
func TestARequestThatJavaAnsweredIsOver(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := sharedJob(4)
		cfg.Cron = "0 0 0 1 7 ?"
		a := c.startShared("a", nil, cfg)
		j := c.javaJoins(javaID)
		sleepUntil(time.Second)
		trigger(t, a)
		j.do(registry.Update(ofOrders.Instance(javaID), "")) // it has run its items
		sleepUntil(2 * time.Second)
		require.Len(t, c.take(), 2)
		j.leaveAndAsk()
		a.stop(t)
		c.start("b", nil, cfg)
		sleepUntil(10 * time.Minute)
		require.Equal(t, map[string]int{fullID("b"): 4}, c.owners())
		require.Empty(t, c.take())
	})
}

// An item that is busy for longer than the time between its fires runs for a request all the same, whatever becomes of what it
// misses, and whenever its fires come: while its end is being recorded, or while it waits for a round that has begun without
// it.
func TestARequestOfAnItemThatIsAlwaysBusy(t *testing.T) {
	t.Parallel()
	latencies := []time.Duration{30 * time.Millisecond, 45 * time.Millisecond, 60 * time.Millisecond, 90 * time.Millisecond, 110 * time.Millisecond}
	for n := range 3 * len(latencies) {
		misfire, latency := []job.MisfirePolicy{job.MisfireOnce, job.MisfireAll, job.MisfireSkip}[n%3], latencies[n/3]
		inBubble(t, func(t *testing.T, c *cluster) {
			const items = 20
			cfg := jobOf(items)
			cfg.Cron, cfg.Misfire = "@every 250ms", misfire
			var calls atomic.Int64
			i := c.away(func(_ context.Context, sc job.ShardingContext) error {
				time.Sleep(time.Duration((calls.Add(1)*7+int64(sc.Item)*11)%40) * time.Millisecond) // and as long as a begin and an end take
				return nil
			}, cfg)
			i.registry.SetLatency(latency)
			sleepUntil(10 * time.Second)
			c.take()
			trigger(t, i)
			sleepUntil(13 * time.Second)
			require.Len(t, byHand(c.take()), items, "%s with a latency of %s", misfire, latency)
		})
	}
}

// An item that is busy for longer than the time between requests by hand runs for its fires all the same.
func TestFiresOfAnItemThatIsAskedForAlways(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*job.Config){
		"made up once": func(cfg *job.Config) { cfg.Misfire = job.MisfireOnce },
		"all made up":  func(cfg *job.Config) { cfg.Misfire = job.MisfireAll },
		"unmonitored":  func(cfg *job.Config) { cfg.Unmonitored = true },
	} {
		for _, replacing := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, replacing %v", name, replacing), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					cfg := jobOf(1)
					cfg.Cron = "* * * * * ?"
					change(&cfg)
					a := c.start("a", func(context.Context, job.ShardingContext) error {
						time.Sleep(2500 * time.Millisecond)
						return nil
					}, cfg)
					var opts []scheduler.TriggerOption
					if replacing {
						opts = append(opts, scheduler.TriggerReplacing())
					}
					for time.Since(bubbleStart) < time.Minute {
						if _, err := ordersOf(t, a).Trigger(t.Context(), opts...); err != nil {
							require.ErrorIs(t, err, scheduler.ErrTriggerPending)
						}
						time.Sleep(100 * time.Millisecond)
					}
					runs := c.take()
					hand := len(byHand(runs))
					t.Log("runs", len(runs), "by hand", hand)
					require.GreaterOrEqual(t, hand, 8)
					require.GreaterOrEqual(t, len(runs)-hand, 8)
				})
			})
		}
	}
}
