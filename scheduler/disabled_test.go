package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// disabledJob is the job with the operator's word.
func disabledJob(cfg job.Config, disabled bool) job.Config {
	cfg.Disabled = disabled
	return cfg
}

// A job that is disabled begins nothing, whatever is said of its servers, and goes on when it is enabled.
func TestADisabledJobStandsStillEverywhere(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item == 0 && sc.Fire.Equal(bubbleStart.Add(5*time.Second)) {
				time.Sleep(8 * time.Second)
			}
			return nil
		}
		cfg := jobOf(4)
		cfg.Misfire = job.MisfireAll
		put(t, c.server, ofOrders.Server("10.0.0.1"), "")
		a := c.start("a", slow, cfg)
		c.onServer(2, "b", 0, slow, cfg) // the last id has item 0
		sleepUntil(6 * time.Second)
		c.take()
		c.change(disabledJob(cfg, true))
		sleepUntil(29 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s scheduled on b"}, c.shown(), "what ran goes on to its end")
		require.Zero(t, c.state().Leader.Created)
		_, health := a.look(t)
		require.True(t, health.Disabled)
		require.ErrorIs(t, errOf(ordersOf(t, a).Trigger(t.Context())), scheduler.ErrNoInstance)
		c.start("c", nil, disabledJob(cfg, false)) // nor does anybody who comes
		sleepUntil(36 * time.Second)
		require.Empty(t, c.take())
		c.change(disabledJob(cfg, false))
		sleepUntil(41 * time.Second)
		runs := c.take()
		require.Len(t, runs, 4)
		for _, r := range runs {
			require.Equal(t, 40*time.Second, r.sc.Fire.Sub(bubbleStart), "fires of the time between have not happened")
		}
	})
}

// What crashed before waits until the job is enabled; what is asked for by hand meanwhile, too.
func TestWhatIsOwedWaitsForADisabledJob(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := yearly(2)
		cfg.Failover = true
		a := c.start("a", nil, cfg)
		b := c.start("b", took(time.Hour), cfg)
		sleepUntil(time.Second)
		trigger(t, a)
		sleepUntil(2 * time.Second)
		require.Len(t, c.take(), 1)
		c.change(disabledJob(cfg, true))
		b.crash(t)
		c.take()
		put(t, c.server, ofOrders.Triggered(), triggeredText(t, jobtree.Triggered{Items: []int{0}, Parameter: "x", Until: time.Now().Add(time.Hour)}))
		sleepUntil(10 * time.Minute)
		require.Empty(t, c.take())
		c.change(disabledJob(cfg, false))
		sleepUntil(11 * time.Minute)
		var sources []string
		for _, r := range c.take() {
			sources = append(sources, string(r.sc.Source)+r.sc.TriggerParameter)
		}
		require.ElementsMatch(t, []string{"failover", "manualx"}, sources)
	})
}

// A deployment changes nothing of whether the job is disabled, whoever wins a conflict.
func TestADisabledJobOutlivesDeployments(t *testing.T) {
	t.Parallel()
	for _, wins := range []scheduler.Conflict{scheduler.RegistryWins, scheduler.CodeWins, scheduler.RefuseConflict} {
		for _, disabled := range []bool{true, false} {
			inBubble(t, func(t *testing.T, c *cluster) {
				c.start("a", nil, jobOf(2)).stop(t)
				c.change(disabledJob(jobOf(2), disabled))
				cfg := disabledJob(jobOf(2), !disabled)
				if wins == scheduler.CodeWins {
					cfg.JobParameter = "v2"
				}
				c.startDeclared("b", c.record("b", nil), cfg, nil, scheduler.OnConflict(wins))
				time.Sleep(11 * time.Second)
				stored := c.state().Config.Value
				require.Equal(t, disabled, stored.Disabled, wins)
				require.Equal(t, cfg.JobParameter, stored.JobParameter)
				require.Equal(t, disabled, len(c.take()) == 0)
			})
		}
	}
}

// Among Java instances it says how new servers start, as in Java, and code may say it.
func TestADisabledJobAmongJavaInstances(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := sharedJob(2)
		c.startShared("a", nil, cfg)
		sleepUntil(time.Second)
		require.False(t, c.state().Server("10.0.0.1").Disabled)
		c.change(disabledJob(cfg, true))
		c.take()
		sleepUntil(20 * time.Minute)
		require.NotEmpty(t, c.take(), "servers that are there go on")
	})
}

// An item is disabled just as its fire comes, and its instance hears of that from the registry, which refuses the begin. The
// fire has not happened then: it does not run when the item is enabled, neither soon enough to be on time nor as a missed one.
func TestAnItemIsDisabledJustAsItsFireComes(t *testing.T) {
	t.Parallel()
	for _, misfire := range []job.MisfirePolicy{job.MisfireOnce, job.MisfireAll} {
		for _, enabled := range []time.Duration{6 * time.Second, 30 * time.Second} {
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: 1, Misfire: misfire}
				a := c.start("a", nil, cfg)
				sleepUntil(4 * time.Second)
				a.registry.SetLatency(200 * time.Millisecond)
				sleepUntil(4900 * time.Millisecond)
				put(t, c.server, ofOrders.ItemDisabled(0), "")
				before := a.registry.Stats().Transactions
				sleepUntil(5500 * time.Millisecond)
				require.Equal(t, before+1, a.registry.Stats().Transactions, "the begin")
				sleepUntil(enabled)
				remove(t, c.server, ofOrders.ItemDisabled(0))
				sleepUntil(66 * time.Second)
				require.Equal(t, []string{"item 0 fire 1m5s scheduled on a"}, c.shown(), "%s, enabled at %s", misfire, enabled)
			})
		}
	}
}

// What waits for its turn when the job, or all of its servers, are disabled does not start, as if its item were disabled, and
// is made up when it may run again. What runs goes on.
func TestWhatWaitsWhenItsJobIsDisabledIsGivenBack(t *testing.T) {
	t.Parallel()
	for name, disable := range disablings {
		inBubble(t, func(t *testing.T, c *cluster) {
			w := crowd{takes: 10 * time.Second}
			c.startCode("a", c.record("a", w.run), five(3, 1))
			sleepUntil(5*time.Minute + time.Second)
			disable(t, c, five(3, 1), true)
			sleepUntil(6 * time.Minute)
			require.Equal(t, []string{"item 0 fire 5m0s scheduled on a"}, c.shown(), name)
			for item := range 3 {
				require.False(t, c.state().Item(item).Running.Exists(), "%s: item %d", name, item)
			}
			disable(t, c, five(3, 1), false)
			sleepUntil(7 * time.Minute)
			require.Equal(t, []string{"item 1 fire 5m0s misfire on a", "item 2 fire 5m0s misfire on a"}, c.shown(), name)
		})
	}
}

// A stream makes room when its job, or all of its servers, are disabled: else nobody could wait for it to stand still.
func TestAStreamEndsWhenItsJobIsDisabled(t *testing.T) {
	t.Parallel()
	for name, disable := range disablings {
		inBubble(t, func(t *testing.T, c *cluster) {
			endless := func(ctx context.Context, _ job.ShardingContext) error { <-job.Yield(ctx); return nil }
			c.startCode("a", c.record("a", endless), jobOf(1))
			sleepUntil(6 * time.Second)
			require.True(t, c.state().Item(0).Running.Exists())
			disable(t, c, jobOf(1), true)
			sleepUntil(7 * time.Second)
			require.Equal(t, jobtree.ItemIdle, c.state().Item(0).Record.Value.State, name)
			require.False(t, c.state().Item(0).Running.Exists(), name)
		})
	}
}

// disablings disable all that could run items of a job, and enable it again.
var disablings = map[string]func(t *testing.T, c *cluster, cfg job.Config, disabled bool){
	"the job": func(_ *testing.T, c *cluster, cfg job.Config, disabled bool) { c.change(disabledJob(cfg, disabled)) },
	"all servers": func(t *testing.T, c *cluster, _ job.Config, disabled bool) {
		text := ""
		if disabled {
			text = "DISABLED"
		}
		put(t, c.server, ofOrders.Server("10.0.0.1"), text)
	},
}
