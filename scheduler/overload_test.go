package scheduler_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// A store that carries out 200 transactions a second runs 100 items a second. The more is asked for,
// the more may be missed, and not one item less may run.
func TestGoodputNeverFalls(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change    func(*job.Config)
		processes int
	}{
		"made up once":    {func(*job.Config) {}, 1},
		"never made up":   {func(c *job.Config) { c.Misfire = job.MisfireSkip }, 1},
		"all made up":     {func(c *job.Config) { c.Misfire = job.MisfireAll }, 1},
		"three processes": {func(*job.Config) {}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rates := make(map[int]int)
			for _, wanted := range []int{60, 100, 1000} {
				inBubble(t, func(t *testing.T, c *cluster) {
					o := c.overload(wanted, test.processes, test.change)
					c.server.SetPace(200, 10*time.Millisecond)
					time.Sleep(12 * time.Second)
					before := o.took()
					time.Sleep(20 * time.Second)
					rates[wanted] = (o.took() - before) / 20
					require.Zero(t, o.suspended(), "sessions that were in doubt")
				})
			}
			t.Log("ran of what was wanted:", rates)
			require.InDelta(t, 60, rates[60], 3)
			require.GreaterOrEqual(t, 10*rates[1000], 9*rates[100], "at ten times of what can run")
		})
	}
}

// A job of many items of which no more run than a part before their fires are late: it is not always the same ones that do not.
func TestNoItemStarves(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy    job.MisfirePolicy
		items     int
		processes int
		lasts     time.Duration
	}{
		"made up once":    {job.MisfireOnce, 2000, 1, 15 * time.Minute},
		"never made up":   {job.MisfireSkip, 400, 1, 5 * time.Minute},
		"three processes": {job.MisfireSkip, 400, 3, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				ran := make([]atomic.Int32, test.items)
				o := c.overloadOf(test.processes, func(_ context.Context, sc job.ShardingContext) error {
					ran[sc.Item].Add(1)
					return nil
				}, job.Config{Name: "orders", Cron: "0/10 * * * * ?", ShardingTotalCount: test.items, Misfire: test.policy})
				c.server.SetPace(100, 10*time.Millisecond)
				time.Sleep(test.lasts)
				require.Zero(t, o.suspended(), "sessions that were in doubt")
				var runs []int
				for n := range ran {
					runs = append(runs, int(ran[n].Load()))
				}
				slices.Sort(runs)
				t.Log("executions of each item, some of them:", runs[0], runs[len(runs)/4], runs[len(runs)/2], runs[len(runs)*3/4], runs[len(runs)-1])
				require.LessOrEqual(t, runs[len(runs)-1], 6*runs[0])
			})
		})
	}
}

// Streams that save their checkpoints as fast as they are answered leave room for other jobs.
func TestCheckpointsTakeTurns(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		o := c.overloadOf(1, func(ctx context.Context, sc job.ShardingContext) error {
			for n := 0; sc.JobName == "streams" && ctx.Err() == nil; n++ {
				_ = job.SaveOffset(ctx, fmt.Sprint(n))
			}
			if sc.JobName == "rare" && sc.Source == job.Scheduled {
				time.Sleep(25 * time.Second)
			}
			return nil
		},
			job.Config{Name: "streams", Cron: "* * * * * ?", ShardingTotalCount: 300},
			job.Config{Name: "small", Cron: "0/5 * * * * ?", ShardingTotalCount: 1},
			job.Config{Name: "rare", Cron: "0,20 1 * * * ?", ShardingTotalCount: 1})
		c.server.SetPace(100, 10*time.Millisecond)
		time.Sleep(20 * time.Second)
		before := o.ran("small")
		time.Sleep(50 * time.Second)
		require.GreaterOrEqual(t, o.ran("small")-before, 4, "of ten fires")
		sleepUntil(150 * time.Second)
		require.Equal(t, 2, o.ran("rare"), "the second fire came while it ran")
	})
}

// An item that is busy for longer than the time between requests by hand runs for its fires all the same, though these have to
// wait for their turns.
func TestFiresOfAnItemThatIsAskedForBeyondCapacity(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var hand, planned atomic.Int32
		o := c.overloadOf(1, func(_ context.Context, sc job.ShardingContext) error {
			switch {
			case sc.JobName == "large":
				return nil
			case sc.Source == job.Manual:
				hand.Add(1)
			default:
				planned.Add(1)
			}
			time.Sleep(2500 * time.Millisecond)
			return nil
		},
			job.Config{Name: "large", Cron: "* * * * * ?", ShardingTotalCount: 500},
			job.Config{Name: "orders", Cron: "* * * * * ?", ShardingTotalCount: 1})
		c.server.SetPace(100, 10*time.Millisecond)
		time.Sleep(20 * time.Second)
		hand.Store(0)
		planned.Store(0)
		orders, err := o.instances[0].Job("orders")
		require.NoError(t, err)
		for begun := time.Now(); time.Since(begun) < 2*time.Minute; time.Sleep(100 * time.Millisecond) {
			if _, err := orders.Trigger(t.Context()); err != nil {
				require.ErrorIs(t, err, scheduler.ErrTriggerPending)
			}
		}
		t.Log("by hand", hand.Load(), "for fires", planned.Load())
		require.Greater(t, hand.Load(), int32(8))
		require.Greater(t, planned.Load(), int32(8))
	})
}

// overloaded are instances that are asked for more than their store can take.
type overloaded struct {
	mu    sync.Mutex
	runs  map[string]int // by job
	late  time.Duration  // the longest time from an on-time fire to its run
	doubt int
	loads []scheduler.LoadEvent
	log   strings.Builder

	refused   []error // ends that could not be recorded
	instances []*instance
}

// overload starts instances with jobs of 20 items that together have so many fires a second.
func (c *cluster) overload(wanted, processes int, change func(*job.Config)) *overloaded {
	c.t.Helper()
	var configs []job.Config
	for n := range wanted / 20 {
		configs = append(configs, job.Config{Name: fmt.Sprintf("job-%d", n), Cron: "* * * * * ?", ShardingTotalCount: 20})
		change(&configs[n])
	}
	return c.overloadWith(processes, configs...)
}

func (c *cluster) overloadWith(processes int, configs ...job.Config) *overloaded {
	c.t.Helper()
	return c.overloadOf(processes, func(context.Context, job.ShardingContext) error { return nil }, configs...)
}

func (c *cluster) overloadOf(processes int, work job.HandlerFunc, configs ...job.Config) *overloaded {
	c.t.Helper()
	o := &overloaded{runs: make(map[string]int)}
	for id := range processes {
		reg := c.server.Open("test", memory.WithRequests(2), memory.WithLatency(time.Millisecond))
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID(fmt.Sprint(id))), scheduler.WithObserver(o),
			scheduler.WithLogger(slog.New(slog.NewTextHandler(o, nil))), scheduler.WithStopTimeout(5*time.Second))
		require.NoError(c.t, err)
		for _, cfg := range configs {
			require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, work)))
		}
		o.instances = append(o.instances, c.run(s, reg))
		c.t.Cleanup(func() { c.server.SetPace(0, 0) })
		<-s.Ready()
	}
	c.server.SetPace(400, 10*time.Millisecond)
	return o
}

func (o *overloaded) Observe(event scheduler.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch e := event.(type) {
	case scheduler.ItemEvent:
		switch {
		case !e.Over() && e.Context.Source == job.Scheduled:
			o.late = max(o.late, time.Since(e.Context.Fire))
		case e.Over() && e.Err == nil && e.Refused == nil:
			o.runs[e.Context.JobName]++
		case e.Over():
			o.refused = append(o.refused, cmp.Or(e.Refused, e.Err))
		}
	case scheduler.ConnectionEvent:
		if e.Change == scheduler.ConnectionSuspended || e.Change == scheduler.ConnectionLost {
			o.doubt++
		}
	case scheduler.LoadEvent:
		o.loads = append(o.loads, e)
	}
}

// Write takes the log.
func (o *overloaded) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log.Write(line)
}

func (o *overloaded) took() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := 0
	for _, n := range o.runs {
		all += n
	}
	return all
}

func (o *overloaded) ran(name string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.runs[name]
}

func (o *overloaded) suspended() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.doubt
}

// A job that asks for ten times what the store can take leaves room for one that asks for little, and
// for jobs of its own kind.
func TestJobsShareFairly(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		configs := []job.Config{
			{Name: "large", Cron: "* * * * * ?", ShardingTotalCount: 2000},
			{Name: "middle", Cron: "* * * * * ?", ShardingTotalCount: 500},
			{Name: "small", Cron: "* * * * * ?", ShardingTotalCount: 1},
		}
		o := c.overloadWith(1, configs...)
		time.Sleep(20 * time.Second)
		large, middle, small := o.ran("large"), o.ran("middle"), o.ran("small")
		time.Sleep(30 * time.Second)
		large, middle, small = o.ran("large")-large, o.ran("middle")-middle, o.ran("small")-small
		t.Log("large", large, "middle", middle, "small", small)
		require.GreaterOrEqual(t, small, 5, "of 30 fires of the small job, an execution of which takes two requests behind full ones")
		require.Greater(t, middle, large/2)
		require.Greater(t, large, middle/2)
	})
}

// Jobs that are asked for twice of what the store can take, in which each has a while between its fires: those whose
// fires are on time must not keep the others, whose fires are all missed ones by now, from running for ever.
func TestNoJobStarves(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		policy    job.MisfirePolicy
		processes int
		least     int // executions, of 180 if all were served alike
	}{
		"made up once":    {job.MisfireOnce, 1, 90},
		"all made up":     {job.MisfireAll, 1, 20}, // who is behind has more to make up, and is served behind those on time
		"never made up":   {job.MisfireSkip, 1, 90},
		"three processes": {job.MisfireOnce, 3, 90},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				const jobs, items = 50, 20
				var configs []job.Config
				for n := range jobs {
					configs = append(configs, job.Config{
						Name: fmt.Sprintf("job-%d", n), Cron: fmt.Sprintf("%d/5 * * * * ?", n%5), ShardingTotalCount: items, Misfire: test.policy,
					})
				}
				o := c.overloadWith(test.processes, configs...)
				c.server.SetPace(200, 10*time.Millisecond)
				time.Sleep(30 * time.Second)
				before := make(map[string]int)
				for _, cfg := range configs {
					before[cfg.Name] = o.ran(cfg.Name)
				}
				time.Sleep(90 * time.Second)
				var ran []int
				for _, cfg := range configs {
					ran = append(ran, o.ran(cfg.Name)-before[cfg.Name])
				}
				slices.Sort(ran)
				t.Log("executions of each job:", ran)
				require.GreaterOrEqual(t, ran[0], test.least)
			})
		})
	}
}

// What an instance beyond its capacity has missed and not yet made up is not noted with each end, but when
// the instance leaves: the next one runs each fire once.
func TestWhatWaitsForItsTurnGoesWithItsItem(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const items = 1500
		cfg := job.Config{Name: "large", Cron: "10-14 0 0 * * ?", ShardingTotalCount: items}
		cfg.Misfire = job.MisfireAll
		a := c.start("a", nil, cfg)
		c.server.SetPace(400, 10*time.Millisecond)
		sleepUntil(14500 * time.Millisecond)
		require.True(t, a.Health(t.Context()).Load.Overloaded)
		ran := len(c.take())
		c.server.SetPace(0, 0)
		a.stop(t)
		ran += len(c.take())
		require.Less(t, ran, 2*items)
		c.start("b", nil, cfg)
		sleepUntil(40 * time.Second)
		require.Equal(t, 5*items, ran+len(c.take()), "five fires of each item")
	})
}

// A registry that takes its time to answer has much of what an instance that stops tells under way at a time.
func TestAStopOfManyJobsFarFromTheirRegistry(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const jobs, items, answer = 400, 10, 200 * time.Millisecond
		var configs []job.Config
		for n := range jobs {
			configs = append(configs, job.Config{
				Name: fmt.Sprintf("job-%d", n), Cron: "10-12 0 0 * * ?", ShardingTotalCount: items, Misfire: job.MisfireAll,
			})
		}
		a := c.start("a", nil, configs...)
		a.registry.SetLatency(answer / 2)
		c.server.SetPace(2000, 0)
		sleepUntil(12500 * time.Millisecond)
		c.server.SetPace(0, 0)
		began := time.Now()
		a.stop(t)
		require.Less(t, time.Since(began), 15*answer)
		ran := len(c.take())
		require.Less(t, ran, 3*jobs*items)
		c.start("b", nil, configs...)
		sleepUntil(40 * time.Second)
		require.Equal(t, 3*jobs*items, ran+len(c.take()), "three fires of each item")
	})
}

// Beyond capacity, the log has a line or two and not one a fire, the observer hears of it each second,
// and health shows it, until it is over.
func TestOverloadIsTold(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		o := c.overload(2000, 1, func(cfg *job.Config) { cfg.Cron = "0-19 * * * * ?" })
		sleepUntil(10 * time.Second)
		require.True(t, o.instances[0].Health(t.Context()).Load.Overloaded)
		sleepUntil(58 * time.Second)
		require.False(t, o.instances[0].Health(t.Context()).Load.Overloaded)
		o.mu.Lock()
		defer o.mu.Unlock()
		var seconds float64
		var begun, wanted, dropped int64
		for _, second := range o.loads {
			if second.Overloaded && second.Wanted > 0 {
				seconds += second.Interval.Seconds()
				begun, wanted, dropped = begun+second.Begun, wanted+second.Wanted, dropped+second.Dropped
			}
		}
		require.GreaterOrEqual(t, seconds, 10.0)
		require.InDelta(t, 2000, float64(wanted)/seconds, 500)
		require.InDelta(t, 200, float64(begun)/seconds, 80)
		// The others came while their items began or ran, or while their runner waited for an answer; how many
		// that are is the interleaving's affair.
		require.Greater(t, dropped, (wanted-begun)/50)
		require.False(t, o.loads[len(o.loads)-1].Overloaded)
		require.LessOrEqual(t, strings.Count(o.log.String(), "level=WARN"), 4, o.log.String())
		require.Contains(t, o.log.String(), "more fires are due than can begin in time")
		require.Contains(t, o.log.String(), "all fires begin in time again")
	})
}

// A write takes long, and then one item is a burden as much as many. What is not confirmed in time runs
// as missed, if that is wanted, and is never begun for nothing.
func TestASlowStoreRunsWhatItConfirms(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		o := c.overload(40, 1, func(*job.Config) {})
		c.server.SetPace(2000, 1500*time.Millisecond)
		time.Sleep(10 * time.Second)
		before := o.took()
		time.Sleep(30 * time.Second)
		// A run takes two writes, 3 s, and begins with a fire; the others that come meanwhile are one.
		require.InDelta(t, 40*30/4, o.took()-before, 40*4)
		require.Zero(t, o.suspended())
	})
}

// A store that carries out thirteen transactions a second runs as many items as it can, too: what waits in
// it must not be more than it confirms before a fire is late.
func TestGoodputOfAVerySlowStore(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		o := c.overload(60, 1, func(c *job.Config) { c.Misfire = job.MisfireSkip })
		c.server.SetPace(13, 10*time.Millisecond)
		time.Sleep(time.Minute)
		before := o.took()
		time.Sleep(2 * time.Minute)
		require.Greater(t, o.took()-before, 120*13/2*9/10)
		require.Zero(t, o.suspended())
	})
}

// What waits in the store when the settings of its job are changed is refused. If the next change comes before the store has
// done as much again, a good part of what it can take runs all the same: not everything waits there at once.
func TestGoodputWhileSettingsChange(t *testing.T) {
	t.Parallel()
	for _, items := range []int{204, 400} {
		for _, policy := range []job.MisfirePolicy{job.MisfireOnce, job.MisfireSkip, job.MisfireAll} {
			t.Run(fmt.Sprintf("%d items, misfire %s", items, policy), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					var ran atomic.Int32
					c.server.SetPace(60, 0) // thirty executions a second
					cfg := job.Config{Name: "orders", Cron: everyFive, ShardingTotalCount: items, Misfire: policy}
					c.launchOver(c.server.Open("test", memory.WithRequests(5), memory.WithLatency(time.Millisecond)), "1",
						func(context.Context, job.ShardingContext) error { ran.Add(1); return nil }, cfg)
					time.Sleep(20 * time.Second)
					before := ran.Load()
					var changes sync.WaitGroup
					for n := range 60 {
						time.Sleep(time.Second)
						next := cfg
						next.JobParameter = fmt.Sprint(n)
						changes.Go(func() { c.change(next) }) // which waits in the store, too
					}
					require.Greater(t, ran.Load()-before, int32(60*30*45/100))
					c.server.SetPace(0, 0)
					changes.Wait()
				})
			})
		}
	}
}

// As not all items begin together then, it is not always the same ones that are left out.
func TestEachItemRunsWhileSettingsChange(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const items = 400
		var ran [items]atomic.Int32
		c.server.SetPace(60, 0)
		cfg := job.Config{Name: "orders", Cron: everyFive, ShardingTotalCount: items, Misfire: job.MisfireAll}
		c.launchOver(c.server.Open("test", memory.WithRequests(5), memory.WithLatency(time.Millisecond)), "1",
			func(_ context.Context, sc job.ShardingContext) error { ran[sc.Item].Add(1); return nil }, cfg)
		var changes sync.WaitGroup
		for n := range 300 {
			time.Sleep(time.Second)
			next := cfg
			next.JobParameter = fmt.Sprint(n)
			changes.Go(func() { c.change(next) })
		}
		var never []int
		for n := range ran {
			if ran[n].Load() == 0 {
				never = append(never, n)
			}
		}
		require.Empty(t, never)
		c.server.SetPace(0, 0)
		changes.Wait()
	})
}

// Who stops in an overload hands over before it has told all that it knows of what others' items missed: its own stand still
// meanwhile, and the stop timeout ends.
func TestAStopInAnOverloadHandsOverFirst(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const processes = 10
		o := c.overloadWith(processes, job.Config{Name: "orders", Cron: "* * * * * ?", ShardingTotalCount: 500, Misfire: job.MisfireAll})
		time.Sleep(time.Minute)
		began := time.Now()
		o.instances[processes-1].cancel()
		for slices.Contains(c.members(), fullID(fmt.Sprint(processes-1))) {
			time.Sleep(100 * time.Millisecond)
		}
		require.Less(t, time.Since(began), 8*time.Second)
		require.NoError(t, o.instances[processes-1].ended())
		o.mu.Lock()
		defer o.mu.Unlock()
		require.NotContains(t, o.log.String(), "gave the session up")
	})
}

// A process that stops beyond capacity has a missed fire of almost every item to tell the others, which takes longer than
// its stop timeout. What has finished by then is recorded all the same.
func TestAStopInAnOverloadRecordsWhatHasFinished(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		jobs, items, pace int
		timeout           time.Duration
	}{
		"many jobs":   {300, 10, 400, 5 * time.Second},
		"a large job": {1, 5000, 400, 12 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var configs []job.Config
				for n := range test.jobs {
					configs = append(configs, job.Config{
						Name: fmt.Sprintf("job-%d", n), Cron: fmt.Sprintf("%d/5 * * * * ?", n%5), ShardingTotalCount: test.items,
					})
				}
				var stops, finished atomic.Bool
				o := c.overloadOf(2, func(_ context.Context, sc job.ShardingContext) error {
					time.Sleep(300 * time.Millisecond)
					if stops.Load() && strings.Contains(sc.TaskID, fullID("0")) {
						finished.Store(true)
					}
					return nil
				}, configs...)
				c.server.SetPace(test.pace, 10*time.Millisecond)
				sleepUntil(21 * time.Second)
				require.NoError(t, o.instances[0].SetStopTimeout(test.timeout))
				stops.Store(true)
				i := o.instances[0]
				i.cancel()
				if err := i.ended(); err != nil { // it goes on to the last moment, in which there may be no time left to hear of it
					require.ErrorContains(t, err, "observer")
				}
				i.stop(t)
				require.True(t, finished.Load(), "something must have run while it stopped")
				o.mu.Lock()
				defer o.mu.Unlock()
				require.Contains(t, o.log.String(), "stop timeout is over", "or else it was no test of that")
				require.Empty(t, o.refused)
			})
		})
	}
}
