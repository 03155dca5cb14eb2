package scheduler_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// These are stories of what package executions makes of a bound, told by whole clusters.

// crowd is code that takes a while and counts how many of its items run at once.
type crowd struct {
	takes     time.Duration
	now, most atomic.Int64
}

func (w *crowd) run(ctx context.Context, _ job.ShardingContext) error {
	now := w.now.Add(1)
	defer w.now.Add(-1)
	for most := w.most.Load(); now > most && !w.most.CompareAndSwap(most, now); most = w.most.Load() {
	}
	select {
	case <-time.After(max(time.Nanosecond, w.takes)):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// five is a configuration of a job that fires every five minutes with at most limit items at once.
func five(items, limit int) job.Config {
	cfg := job.Config{Name: "orders", Cron: "0 0/5 * * * ?", ShardingTotalCount: items}
	cfg.MaxConcurrentItems = limit
	return cfg
}

// Items beyond the bound wait for their turn, in the order of their numbers. The round still begins in
// one request, nothing is read, and what waited longer than a late fire may be is not missed.
func TestItemsWaitForTheirTurn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		w, o := crowd{takes: 3 * time.Second}, told{}
		i := c.startCode("a", c.record("a", w.run), five(6, 2), scheduler.WithObserver(&o))
		sleepUntil(4 * time.Minute)
		before := i.registry.Stats()
		sleepUntil(5*time.Minute + time.Second)
		_, now := o.mostWaiting()
		require.Equal(t, 4, now)
		for item := range 6 {
			require.True(t, c.state().Item(item).Running.Exists(), "item %d has begun", item)
		}
		before.ReadRequests = 0 // those of this test are its own handles'
		sleepUntil(6 * time.Minute)
		after := i.registry.Stats()
		require.Equal(t, 1+3, after.CommitRequests-before.CommitRequests, "one begin, and an end for each pair")
		require.EqualValues(t, 2, w.most.Load())
		runs := c.take()
		require.Len(t, runs, 6)
		for n, r := range runs {
			require.Equal(t, fmt.Sprintf("item %d fire 5m0s scheduled on a", n), r.String())
			require.Equal(t, bubbleStart.Add(5*time.Minute+time.Duration(n/2)*3*time.Second), r.began.UTC())
		}
		most, now := o.mostWaiting()
		require.Equal(t, 4, most)
		require.Zero(t, now)
	})
}

func TestExecutorsByName(t *testing.T) {
	t.Parallel()
	two, err := inforce.MaxRunning(job.Config{ExecutorServiceHandler: job.ExecutorCPU})
	require.NoError(t, err)
	for name, test := range map[string]struct {
		set  func(*job.Config)
		want int
	}{
		"without":       {func(*job.Config) {}, 100},
		"CPU":           {func(c *job.Config) { c.ExecutorServiceHandler = job.ExecutorCPU }, min(two, 100)},
		"SINGLE_THREAD": {func(c *job.Config) { c.ExecutorServiceHandler = job.ExecutorSingleThread }, 1},
		"a number":      {func(c *job.Config) { c.ExecutorServiceHandler, c.MaxConcurrentItems = job.ExecutorSingleThread, 7 }, 7},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				w := crowd{takes: time.Second}
				cfg := five(100, 0)
				test.set(&cfg)
				c.startCode("a", job.HandlerFunc(w.run), cfg)
				sleepUntil(9 * time.Minute)
				require.EqualValues(t, test.want, w.most.Load())
				require.Zero(t, w.now.Load())
				require.EqualValues(t, 1, c.state().Item(99).Record.Value.Counts.Success)
			})
		})
	}
}

// What waits when the instance stops was never started, and runs elsewhere at once.
func TestAStopGivesBackWhatWaits(t *testing.T) {
	t.Parallel()
	for _, window := range []time.Duration{0, time.Minute} { // in which there is time enough
		t.Run(window.String(), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				w := crowd{takes: 10 * time.Second}
				cfg := five(3, 1)
				cfg.MisfireWindow = window
				a := c.startCode("a", c.record("a", w.run), cfg)
				sleepUntil(5*time.Minute + time.Second)
				cfg.MaxConcurrentItems = 0
				c.startCode("b", c.record("b", nil), cfg)
				sleepUntil(5*time.Minute + 2*time.Second)
				a.cancel()
				sleepUntil(5*time.Minute + 9*time.Second)
				require.Equal(t, []string{
					"item 1 fire 5m0s misfire on b", "item 2 fire 5m0s misfire on b",
				}, c.shown(), "they do not wait for item 0")
				sleepUntil(6 * time.Minute)
				require.Equal(t, []string{"item 0 fire 5m0s scheduled on a"}, c.shown())
			})
		})
	}
}

// What waits when the session is lost never starts, so nothing of it is lost: its fire is a missed one.
func TestALostSessionForgetsWhatWaits(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		w, o := crowd{takes: time.Minute}, told{}
		cfg := five(3, 1)
		cfg.Failover = true
		a := c.startCode("a", c.record("a", w.run), cfg, scheduler.WithObserver(&o))
		sleepUntil(5*time.Minute + time.Second)
		a.registry.Expire()
		sleepUntil(9 * time.Minute)
		require.EqualValues(t, 1, w.most.Load())
		require.Equal(t, []string{
			"item 0 fire 5m0s scheduled on a", "item 0 fire 5m0s failover on a",
			"item 1 fire 5m0s misfire on a", "item 2 fire 5m0s misfire on a",
		}, c.shown())
		_, now := o.mostWaiting()
		require.Zero(t, now)
	})
}

func TestTheBoundIsRaisedWhileItemsWait(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		w := crowd{takes: 20 * time.Second}
		c.startCode("a", job.HandlerFunc(w.run), five(5, 1))
		sleepUntil(5*time.Minute + time.Second)
		require.EqualValues(t, 1, w.now.Load())
		c.change(five(5, 3))
		sleepUntil(5*time.Minute + 2*time.Second)
		require.EqualValues(t, 3, w.now.Load())
		c.change(five(5, 0))
		sleepUntil(5*time.Minute + 3*time.Second)
		require.EqualValues(t, 5, w.now.Load())
	})
}

// What waits for its turn and would be run by nobody if it were given back keeps its turn: a fire that policy does not make up,
// and a run by hand, whose request may be answered.
func TestWhatNobodyWouldMakeUpKeepsItsTurn(t *testing.T) {
	t.Parallel()
	skip := five(6, 1)
	skip.Misfire = job.MisfireSkip
	window := five(6, 1)
	window.MisfireWindow = time.Second
	none := five(6, 1)
	none.Misfire, none.MisfireMax = job.MisfireAll, -1
	failover := skip
	failover.Failover = true
	windowed := window
	windowed.Failover = true
	unmonitored := five(6, 1)
	unmonitored.Unmonitored = true
	byHand := yearly(6)
	byHand.MaxConcurrentItems = 1
	for name, test := range map[string]struct {
		cfg   job.Config
		first []string // that are there from the start
		event func(c *cluster, a *instance, code job.Handler)
	}{
		"an instance joins": {skip, []string{"a"}, func(c *cluster, _ *instance, code job.Handler) { c.startCode("b", code, skip) }},
		"an instance joins, and a fire is too old": {window, []string{"a"}, func(c *cluster, _ *instance, code job.Handler) {
			sleepUntil(5*time.Minute + 1500*time.Millisecond)
			c.startCode("b", code, window)
		}},
		"an instance joins, and none is kept": {none, []string{"a"}, func(c *cluster, _ *instance, code job.Handler) { c.startCode("b", code, none) }},
		"an instance joins, and none is made up now": {five(6, 1), []string{"a"}, func(c *cluster, _ *instance, code job.Handler) {
			c.change(skip)
			c.startCode("b", code, skip)
		}},
		"the instance stops":  {skip, []string{"b", "a"}, func(_ *cluster, a *instance, _ job.Handler) { a.cancel() }},
		"its session is lost": {failover, []string{"a"}, func(_ *cluster, a *instance, _ job.Handler) { a.registry.Expire() }},
		"its session is lost, and a fire is too old": {windowed, []string{"a"}, func(_ *cluster, a *instance, _ job.Handler) {
			a.registry.Cut()
			sleepUntil(5*time.Minute + 20*time.Second)
			a.registry.Heal()
		}},
		"the instance stops, and there are no records": {unmonitored, []string{"b", "a"}, func(_ *cluster, a *instance, _ job.Handler) { a.cancel() }},
		"the instance stops, by hand":                  {byHand, []string{"b", "a"}, func(_ *cluster, a *instance, _ job.Handler) { a.cancel() }},
		"an instance joins, by hand":                   {byHand, []string{"a"}, func(c *cluster, _ *instance, code job.Handler) { c.startCode("b", code, byHand) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				w := crowd{takes: time.Second}
				code := c.record("any", w.run)
				var a *instance
				for _, id := range test.first {
					a = c.startCode(id, code, test.cfg)
				}
				sleepUntil(5 * time.Minute)
				if test.cfg.Cron == yearly(1).Cron {
					require.NoError(t, errOf(ordersOf(t, a).Trigger(t.Context())))
				}
				sleepUntil(5*time.Minute + 500*time.Millisecond)
				test.event(c, a, code)
				sleepUntil(9 * time.Minute)
				ran := make(map[int]bool)
				for _, r := range c.take() {
					ran[r.sc.Item] = true
				}
				require.Len(t, ran, 6)
			})
		})
	}
}

// Items of a disabled job that have begun and wait for their turn are not called any more.
func TestADisabledJobStartsNothingThatWaits(t *testing.T) {
	t.Parallel()
	for name, disable := range map[string]func(t *testing.T, c *cluster){
		"the job": func(_ *testing.T, c *cluster) {
			cfg := five(4, 1)
			cfg.Disabled = true
			c.change(cfg)
		},
		"its only server": func(t *testing.T, c *cluster) { put(t, c.server, orders.Server("10.0.0.1"), "DISABLED") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				w := crowd{takes: 10 * time.Second}
				c.startCode("a", c.record("a", w.run), five(4, 1))
				sleepUntil(5*time.Minute + time.Second)
				disable(t, c)
				sleepUntil(9 * time.Minute)
				require.Equal(t, []string{"item 0 fire 5m0s scheduled on a"}, c.shown())
			})
		})
	}
}

// What waits keeps its bound while its job pauses.
func TestAPauseKeepsTheBound(t *testing.T) {
	t.Parallel()
	for name, pause := range map[string]func(t *testing.T, c *cluster){
		"unusable": func(t *testing.T, c *cluster) { put(t, c.server, orders.Config(), "{broken") },
		"removed":  func(t *testing.T, c *cluster) { remove(t, c.server, orders.Config()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				w := crowd{takes: 10 * time.Second}
				cfg := yearly(5)
				cfg.MaxConcurrentItems = 1
				a := c.startCode("a", c.record("a", w.run), cfg)
				sleepUntil(time.Minute)
				require.NoError(t, errOf(ordersOf(t, a).Trigger(t.Context())))
				sleepUntil(time.Minute + time.Second)
				pause(t, c)
				sleepUntil(5 * time.Minute)
				require.EqualValues(t, 1, w.most.Load())
				require.Len(t, c.take(), 5)
			})
		})
	}
}

// An instance that cannot follow its job for so long that it hands it over gives back what waits.
func TestWhatWaitsWithoutAViewIsGivenBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		w := crowd{takes: time.Minute}
		a := c.startCode("a", c.record("a", w.run), five(4, 1))
		sleepUntil(5*time.Minute + time.Second)
		a.registry.Deny("/orders", false)
		defer a.registry.Allow()
		c.startCode("b", c.record("b", nil), five(4, 1))
		sleepUntil(9 * time.Minute)
		require.ElementsMatch(t, []string{
			"item 0 fire 5m0s scheduled on a",
			"item 1 fire 5m0s misfire on b", "item 2 fire 5m0s misfire on b", "item 3 fire 5m0s misfire on b",
		}, c.shown())
	})
}

// A name that Java instances wrote is no reason not to run the job.
func TestAnExecutorThatIsNotKnown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		w := crowd{takes: time.Second}
		cfg := five(5, 0)
		cfg.ExecutorServiceHandler = "com.acme.Pool"
		reg := c.server.Open("test")
		s, err := scheduler.New(reg)
		require.NoError(t, err)
		require.EqualError(t, errOf(s.Add(t.Context(), cfg, nothing)),
			`declare job "orders": ExecutorServiceHandler "com.acme.Pool" must be empty, CPU or SINGLE_THREAD`)
		require.NoError(t, reg.Close(context.Background()))

		put(t, c.server, "/orders/config", mustEncode(cfg))
		c.startCode("a", job.HandlerFunc(w.run), five(5, 1))
		sleepUntil(6 * time.Minute)
		require.EqualValues(t, 5, w.most.Load())
	})
}
