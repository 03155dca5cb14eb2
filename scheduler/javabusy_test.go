package scheduler_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/sharding"
)

// ownStrategy is the name of a strategy that only the test knows.
const ownStrategy = "com.acme.OwnStrategy"

// knowing makes a strategy known under that name.
func knowing(t *testing.T, strategy sharding.StrategyFunc) scheduler.Option {
	t.Helper()
	strategies := sharding.Default()
	require.NoError(t, strategies.Register(ownStrategy, strategy))
	return scheduler.WithStrategies(strategies)
}

// average assigns items as the default does. It is an application's strategy: it is not said to return at once.
func average(t *testing.T) sharding.StrategyFunc {
	t.Helper()
	strategy, err := sharding.Default().Lookup("")
	require.NoError(t, err)
	return strategy.Assign
}

// busy is [sharedJob] whose items miss fires whenever they run for longer than a second.
func busy(total int, misfire job.MisfirePolicy) job.Config {
	cfg := sharedJob(total)
	cfg.Cron, cfg.Misfire = "* * * * * ?", misfire
	return cfg
}

// startBusy starts an instance that is so far from the registry.
func (c *cluster) startBusy(id string, far time.Duration, work job.HandlerFunc, options []scheduler.Option, cfg job.Config) {
	c.t.Helper()
	reg := c.server.Open("test", memory.WithLatency(far))
	s, err := scheduler.New(reg, append([]scheduler.Option{scheduler.WithInstanceID(fullID(id))}, options...)...)
	require.NoError(c.t, err)
	require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, c.record(id, work))))
	c.run(s, reg)
	<-s.Ready()
}

// gaps returns how long an item stood still between its runs, one after the other. None may overlap.
func gaps(t *testing.T, runs []run, item int) []time.Duration {
	t.Helper()
	runs = slices.DeleteFunc(slices.Clone(runs), func(r run) bool { return r.sc.Item != item })
	slices.SortFunc(runs, func(a, b run) int { return a.began.Compare(b.began) })
	var all []time.Duration
	for n := 1; n < len(runs); n++ {
		gap := runs[n].began.Sub(runs[n-1].ended)
		require.GreaterOrEqual(t, gap, time.Duration(0), "item %d runs twice at once", item)
		all = append(all, gap)
	}
	return all
}

// An item that runs does not move. One that has missed fires meanwhile, and so would run again right after, does: its owner
// leaves it alone until the leader has moved it.
func TestAnItemThatIsAlwaysBusyMovesToWhoeverJoins(t *testing.T) {
	t.Parallel()
	const takes = 2500 * time.Millisecond
	works := []job.HandlerFunc{took(takes), func(ctx context.Context, sc job.ShardingContext) error {
		return took(takes+time.Duration(137*sc.Item+int(sc.Fire.Unix()*7919%1000))*time.Millisecond)(ctx, sc)
	}}
	all, own, failing := busy(4, job.MisfireAll), busy(4, job.MisfireOnce), busy(4, job.MisfireOnce)
	own.ShardingStrategy, failing.Failover = ownStrategy, true
	for name, of := range map[string]struct {
		beside scheduler.Option
		cfg    job.Config
	}{
		"beside 2.1.5":     {scheduler.WithJavaPeers(), busy(4, job.MisfireOnce)},
		"each fire":        {scheduler.WithJavaPeers(), all},
		"own strategy":     {scheduler.WithJavaPeers(), own},
		"beside 3.x":       {scheduler.WithElasticJob3Peers(), busy(4, job.MisfireOnce)},
		"failover, in 3.x": {scheduler.WithElasticJob3Peers(), failing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := []scheduler.Option{of.beside, knowing(t, average(t))}
			for _, latency := range []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond} {
				for n, work := range works {
					inBubble(t, func(t *testing.T, c *cluster) {
						says := fmt.Sprintf("latency %s, work %d", latency, n)
						c.startBusy("c", latency, work, options, of.cfg)
						sleepUntil(10 * time.Second)
						c.startBusy("b", latency, work, options, of.cfg)
						sleepUntil(20 * time.Second)
						require.Equal(t, map[string]int{fullID("c"): 2, fullID("b"): 2}, c.owners(), says)
						c.startBusy("a", latency, work, options, of.cfg)
						sleepUntil(30 * time.Second)
						require.Equal(t, map[string]int{fullID("c"): 2, fullID("b"): 1, fullID("a"): 1}, c.owners(), says)
						runs := c.take()
						for item := range 4 {
							require.Less(t, slices.Max(gaps(t, runs, item)), time.Second, says)
						}
					})
				}
			}
		})
	}
}

// The same goes for what is to go to a Java instance, which it does between fires alone.
func TestAnItemThatIsAlwaysBusyMovesToJava(t *testing.T) {
	t.Parallel()
	for _, cron := range []string{"* * * * * ?", everyFive} {
		for _, takes := range []time.Duration{5 * time.Second, 5100 * time.Millisecond, 6900 * time.Millisecond} {
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := sharedJob(2)
				cfg.Cron = cron
				c.startShared("a", took(takes), cfg)
				sleepUntil(10 * time.Second)
				c.javaJoins(lastJavaID)
				sleepUntil(30 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 1, lastJavaID: 1}, c.owners(), "%s, runs of %s", cron, takes)
			})
		}
	}
}

// A leader may want another assignment than an owner takes it to want. The owner waits for it once, and goes on.
func TestAnItemRestsInVainOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := busy(2, job.MisfireOnce)
		cfg.ShardingStrategy = ownStrategy
		beside := scheduler.WithJavaPeers()
		c.startBusy("a", 0, took(2500*time.Millisecond), []scheduler.Option{beside, knowing(t, average(t))}, cfg)
		toTheFirst := func(r sharding.Request) (sharding.Assignment, error) {
			return slices.Repeat(sharding.Assignment{fullID("a")}, r.Total), nil
		}
		c.startBusy("b", 0, took(2500*time.Millisecond), []scheduler.Option{beside, knowing(t, toTheFirst)}, cfg)
		sleepUntil(2 * time.Minute)
		require.Equal(t, map[string]int{fullID("a"): 1, fullID("b"): 1}, c.owners())
		var waits []time.Duration
		runs := slices.DeleteFunc(c.take(), func(r run) bool { return r.instance != "b" })
		for _, gap := range gaps(t, runs, runs[0].sc.Item) {
			if gap > time.Second {
				waits = append(waits, gap)
			}
		}
		require.Equal(t, []time.Duration{3 * time.Second}, waits)
	})
}

// stream returns code that goes on until it is asked to come to an end, and takes so long for that.
func stream(takes time.Duration) job.HandlerFunc {
	return func(ctx context.Context, _ job.ShardingContext) error {
		<-job.Yield(ctx)
		time.Sleep(takes)
		return nil
	}
}

// What goes on until it is asked to come to an end, such as a stream, is asked when its item is to go to another instance.
func TestAStreamMovesBesideJavaToWhoeverJoins(t *testing.T) {
	t.Parallel()
	own, failing := busy(4, job.MisfireOnce), busy(4, job.MisfireOnce)
	own.ShardingStrategy, failing.Failover = ownStrategy, true
	for name, of := range map[string]struct {
		beside scheduler.Option
		cfg    job.Config
	}{
		"beside 2.1.5":     {scheduler.WithJavaPeers(), busy(4, job.MisfireOnce)},
		"each fire":        {scheduler.WithJavaPeers(), busy(4, job.MisfireAll)},
		"no missed fire":   {scheduler.WithJavaPeers(), busy(4, job.MisfireSkip)},
		"own strategy":     {scheduler.WithJavaPeers(), own},
		"beside 3.x":       {scheduler.WithElasticJob3Peers(), busy(4, job.MisfireOnce)},
		"failover, in 3.x": {scheduler.WithElasticJob3Peers(), failing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := []scheduler.Option{of.beside, knowing(t, average(t))}
			for _, latency := range []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond} {
				for _, takes := range []time.Duration{0, 1500 * time.Millisecond} {
					inBubble(t, func(t *testing.T, c *cluster) {
						says := fmt.Sprintf("latency %s, takes %s", latency, takes)
						c.startBusy("c", latency, stream(takes), options, of.cfg)
						sleepUntil(10 * time.Second)
						c.startBusy("b", latency, stream(takes), options, of.cfg)
						sleepUntil(15 * time.Second)
						require.Equal(t, map[string]int{fullID("c"): 2, fullID("b"): 2}, c.owners(), says)
						c.startBusy("a", latency, stream(takes), options, of.cfg)
						sleepUntil(20 * time.Second)
						require.Equal(t, map[string]int{fullID("c"): 2, fullID("b"): 1, fullID("a"): 1}, c.owners(), says)
						sleepUntil(time.Minute)
						require.Len(t, c.take(), 5, "what stays is not asked to end, %s", says)
						for item := range 4 {
							require.True(t, c.node(orders.ItemRunning(item)).Exists(), says)
						}
					})
				}
			}
		})
	}
}

// The same goes for what is to go to a Java instance.
func TestAStreamMovesToJava(t *testing.T) {
	t.Parallel()
	for _, misfire := range []job.MisfirePolicy{job.MisfireOnce, job.MisfireSkip} {
		for _, joins := range []time.Duration{10 * time.Second, 14100 * time.Millisecond, 13900 * time.Millisecond} {
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := sharedJob(2)
				cfg.Misfire = misfire
				c.startShared("a", stream(0), cfg)
				sleepUntil(joins)
				c.javaJoins(lastJavaID)
				sleepUntil(joins + 8*time.Second)
				require.Equal(t, map[string]int{fullID("a"): 1, lastJavaID: 1}, c.owners(), "joins at %s", joins)
				require.Equal(t, fullID("a"), c.node(orders.ItemRunning(0)).Value+c.node(orders.ItemRunning(1)).Value)
			})
		}
	}
}

// Whoever joins and leaves again within a second ends no stream. If one was asked to end, it goes on where it is.
func TestAStreamWhoseItemNeedNotMoveAfterAll(t *testing.T) {
	t.Parallel()
	for stays, ended := range map[time.Duration]int{500 * time.Millisecond: 0, 2 * time.Second: 2} {
		for _, misfire := range []job.MisfirePolicy{job.MisfireOnce, job.MisfireSkip} {
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg, beside := busy(4, misfire), []scheduler.Option{scheduler.WithJavaPeers()}
				c.startBusy("c", 0, stream(5*time.Second), beside, cfg)
				sleepUntil(10 * time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), stays)
				defer cancel()
				reg := c.server.Open("test")
				defer func() { require.NoError(t, reg.Close(context.Background())) }()
				b, err := scheduler.New(reg, append(beside, scheduler.WithInstanceID(fullID("b")))...)
				require.NoError(t, err)
				require.NoError(t, errOf(b.Add(t.Context(), cfg, stream(0))))
				require.NoError(t, b.Run(ctx))
				sleepUntil(30 * time.Second)
				runs := c.take()
				require.Len(t, runs, ended)
				require.Equal(t, map[string]int{fullID("c"): 4}, c.owners())
				for item := range 4 {
					require.Equal(t, fullID("c"), c.node(orders.ItemRunning(item)).Value, "item %d", item)
				}
			})
		}
	}
}

// A leader may want another assignment than an owner takes it to want. The owner ends a stream for it once.
func TestAStreamThatMakesRoomInVain(t *testing.T) {
	t.Parallel()
	for _, misfire := range []job.MisfirePolicy{job.MisfireOnce, job.MisfireSkip} {
		inBubble(t, func(t *testing.T, c *cluster) {
			cfg := busy(2, misfire)
			cfg.ShardingStrategy = ownStrategy
			beside := scheduler.WithJavaPeers()
			c.startBusy("a", 0, took(time.Millisecond), []scheduler.Option{beside, knowing(t, average(t))}, cfg)
			toTheFirst := func(r sharding.Request) (sharding.Assignment, error) {
				return slices.Repeat(sharding.Assignment{fullID("a")}, r.Total), nil
			}
			c.startBusy("b", 0, stream(0), []scheduler.Option{beside, knowing(t, toTheFirst)}, cfg)
			sleepUntil(2 * time.Minute)
			require.Equal(t, map[string]int{fullID("a"): 1, fullID("b"): 1}, c.owners())
			runs := slices.DeleteFunc(c.take(), func(r run) bool { return r.instance != "b" })
			require.Len(t, runs, 1)
		})
	}
}
