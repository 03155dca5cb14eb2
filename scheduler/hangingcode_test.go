package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/sharding"
)

// badCode is how code of an application can go wrong without returning an error.
type badCode struct {
	way     string // hang, panic or end
	forever chan struct{}
}

// ways are all of them, and what is said of each of a code that should have returned.
var ways = map[string]string{"hang": scheduler.ErrNotReturned.Error(), "panic": "spoiled", "end": "runtime.Goexit"}

func (b badCode) run() {
	switch b.way {
	case "hang":
		<-b.forever
	case "panic":
		panic("spoiled")
	default:
		runtime.Goexit()
	}
}

// inEveryWay runs a test in virtual time for code that goes wrong in each way.
func inEveryWay(t *testing.T, test func(t *testing.T, c *cluster, bad badCode, says string)) {
	t.Helper()
	for way, says := range ways {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				bad := badCode{way: way, forever: make(chan struct{})}
				test(t, c, bad, says)
				close(bad.forever)
				synctest.Wait()
			})
		})
	}
}

// jobHealth is what a process says of one of its jobs. It says it at once.
func jobHealth(t *testing.T, i *instance, name string) scheduler.JobHealth {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	for _, j := range i.Health(ctx).Jobs {
		if j.Job == name {
			require.True(t, j.Answered, "the runner of %s is held up", name)
			return j
		}
	}
	require.Fail(t, "no such job", name)
	return scheduler.JobHealth{}
}

// badObserver goes wrong with every item that starts, and where the context of an item is made.
type badObserver struct{ badCode }

func (b badObserver) Observe(event scheduler.Event) {
	if e, is := event.(scheduler.ItemEvent); is && !e.Over() {
		b.run()
	}
}

func (b badObserver) ItemContext(ctx context.Context, _ scheduler.ItemEvent) context.Context {
	b.run()
	return ctx
}

// Nothing but an observer itself, neither jobs nor other observers nor a stop, is held up by what becomes of it.
func TestABadObserverHoldsUpNobody(t *testing.T) {
	t.Parallel()
	inEveryWay(t, func(t *testing.T, c *cluster, bad badCode, _ string) {
		var log lines
		heard := &rounds{names: make(map[string]string)}
		i := c.launchWith("a", nil, []scheduler.Option{
			scheduler.WithObserver(badObserver{badCode: bad}), scheduler.WithObserver(heard),
			scheduler.WithStopTimeout(5 * time.Second), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		}, nil, jobOf(2), job.Config{Name: "mails", Cron: everyFive, ShardingTotalCount: 1})
		sleepUntil(59 * time.Second)
		runs := c.take()
		require.Len(t, runs, 3*11)
		for _, r := range runs {
			require.Less(t, r.began.Sub(r.sc.Fire), 2*time.Second, "%s", r)
		}
		jobHealth(t, i, "orders")
		heard.mu.Lock()
		require.Len(t, heard.lines, 2*(2*11+3*11), "the other observer hears all")
		heard.mu.Unlock()

		began := time.Now()
		i.cancel()
		err := i.ended()
		require.LessOrEqual(t, time.Since(began), 3*time.Second)
		if bad.way == "hang" {
			require.ErrorContains(t, err, "observer scheduler_test.badObserver did not return when the stop timeout was over and was given up (once)")
			require.ErrorContains(t, err, "observer scheduler_test.badObserver was not called any more: the scheduler stopped")
			require.Contains(t, log.line("stopping, waiting for what runs"), `observers="observer scheduler_test.badObserver"`)
			require.LessOrEqual(t, log.count("observer does not return"), 3, "one line, then counts")
			return
		}
		require.NoError(t, err)
		require.LessOrEqual(t, log.count("observer panicked"), 3, "one line, then counts")
		require.Contains(t, log.text.String(), `msg="observer panicked"`)
		require.Contains(t, log.text.String(), `times=`)
	})
}

// badConfigure is code of which Configure goes wrong while the parameter says so.
type badConfigure struct {
	badCode
	job.HandlerFunc
}

func (b badConfigure) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if cfg.JobParameter == "bad" {
		b.run()
		return nil, errors.New("let go")
	}
	return b.HandlerFunc, nil
}

// A job whose Configure goes wrong pauses and says so, once, and goes on when its configuration is mended. The
// other jobs of the process do not notice, nor does a stop.
func TestABadConfigureHoldsUpItsJobAlone(t *testing.T) {
	t.Parallel()
	inEveryWay(t, func(t *testing.T, c *cluster, bad badCode, says string) {
		var log lines
		i := c.launchWith("a", nil, []scheduler.Option{
			scheduler.WithHandler("index", badConfigure{bad, c.record("a", nil)}), scheduler.WithHandler("send", c.record("a", nil)),
			scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
		}, nil)
		cfg := ofClass("orders", "index", 1)
		c.store(cfg)
		c.store(ofClass("mails", "send", 1))
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 2)

		cfg.JobParameter = "bad"
		for n := range 6 { // more than may hang at once
			cfg.Description = fmt.Sprint(n)
			c.store(cfg)
			synctest.Wait()
			if n == 0 && bad.way == "hang" {
				require.True(t, jobHealth(t, i, "orders").Leading, "while it may return in time")
			}
		}
		sleepUntil(31 * time.Second)
		runs := c.take()
		require.Len(t, runs, 5, "the other job at 10, 15, 20, 25, 30")
		for _, r := range runs {
			require.Equal(t, "mails", r.sc.JobName)
		}
		require.Contains(t, jobHealth(t, i, "orders").Config, says)
		require.Equal(t, 1, log.count("job pauses: its configuration cannot be used"))

		cfg.JobParameter = ""
		c.store(cfg)
		want := 2
		if bad.way == "hang" {
			want = 3 // one stands for those that came while the code might still have returned
			sleepUntil(34 * time.Second)
			require.NotEmpty(t, jobHealth(t, i, "orders").Config, "it was not asked, as too many calls have not returned")
			bad.forever <- struct{}{}
		}
		sleepUntil(36 * time.Second)
		require.Len(t, c.take(), want, "both jobs at 35")
		require.Empty(t, jobHealth(t, i, "orders").Config)

		cfg.JobParameter = "bad"
		c.store(cfg)
		began := time.Now()
		i.stop(t)
		require.Less(t, time.Since(began), time.Second)
	})
}

// A job starts with a configuration of which its code makes nothing: it pauses as one that gets it later.
func TestABadConfigureOfTheStoredConfiguration(t *testing.T) {
	t.Parallel()
	inEveryWay(t, func(t *testing.T, c *cluster, bad badCode, says string) {
		cfg := jobOf(1)
		cfg.JobParameter = "bad"
		c.change(cfg)
		i := c.startCode("a", badConfigure{bad, c.record("a", nil)}, jobOf(1))
		sleepUntil(11 * time.Second)
		require.Contains(t, jobHealth(t, i, "orders").Config, says)
		require.Empty(t, c.take())
		i.stop(t)
	})
}

// The constructor of an error handler is code of the application, too. What it gets wrong is no reason to pause
// unless nobody knows when it returns.
func TestABadConstructorOfAnErrorHandler(t *testing.T) {
	t.Parallel()
	inEveryWay(t, func(t *testing.T, c *cluster, bad badCode, says string) {
		handlers := errorhandler.Default()
		require.NoError(t, handlers.Register("BAD", func(job.Config, *slog.Logger) (job.ErrorHandler, error) { bad.run(); return nil, nil }))
		cfg := jobOf(1)
		i := c.startCode("a", c.record("a", nil), cfg, scheduler.WithErrorHandlers(handlers))
		cfg.ErrorHandler = "BAD"
		c.change(cfg)
		sleepUntil(11 * time.Second)
		if health := jobHealth(t, i, "orders"); bad.way == "hang" {
			require.Contains(t, health.Config, "the constructor of the error handler "+says)
			require.Empty(t, c.take())
		} else {
			require.Empty(t, health.Config)
			require.Len(t, c.take(), 2)
		}
		i.stop(t)
	})
}

// Who declares a job hears what its code gets wrong, and waits no longer than it wants to.
func TestADeclarationWithBadCode(t *testing.T) {
	t.Parallel()
	inEveryWay(t, func(t *testing.T, c *cluster, bad badCode, says string) {
		cfg := jobOf(1)
		cfg.JobParameter = "bad"
		s := c.unaware()
		code := badConfigure{bad, nothing}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := s.Add(ctx, cfg, code)
		if bad.way == "hang" {
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorIs(t, errOf(s.Add(t.Context(), cfg, code)), scheduler.ErrNotReturned)
			require.Equal(t, 11*time.Second, time.Since(began))
			return
		}
		require.ErrorContains(t, err, says)
	})
}

// A strategy that goes wrong with another count of items does not stop the job: what belongs to somebody goes on there, under the
// new count, and what is new begins when the strategy is right.
func TestABadStrategyAfterANewCount(t *testing.T) {
	t.Parallel()
	inEveryWay(t, func(t *testing.T, c *cluster, bad badCode, says string) {
		var log lines
		var well atomic.Bool
		average, err := sharding.Default().Lookup("")
		require.NoError(t, err)
		strategies := sharding.Default()
		require.NoError(t, strategies.Register("TEST", sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
			if r.Total != 2 && !well.Load() {
				bad.run()
			}
			return average.Assign(r)
		})))
		options := []scheduler.Option{scheduler.WithStrategies(strategies), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}
		cfg := jobOf(2)
		cfg.ShardingStrategy = "TEST"
		a := c.startWith("a", nil, options, cfg)
		b := c.startWith("b", nil, options, cfg)
		sleepUntil(6 * time.Second)
		update := func(change func(cfg *job.Config)) {
			require.NoError(t, ordersOf(t, a).Update(t.Context(), func(cfg *job.Config) error { change(cfg); return nil }))
		}
		for i, total := range []int{3, 1, 4} { // it grows, it shrinks, and an item comes back
			before := c.state()
			update(func(cfg *job.Config) { cfg.ShardingTotalCount = total })
			sleepUntil(time.Duration(18+30*i) * time.Second) // a strategy that hangs has ten seconds
			c.take()
			sleepUntil(time.Duration(33+30*i) * time.Second)
			ran := make(map[int]int)
			for _, r := range c.take() {
				ran[r.sc.Item]++
				require.Equal(t, total, r.sc.TotalCount)
				require.Equal(t, before.Owner(r.sc.Item), fullID(r.instance), "it stays where it is")
			}
			kept := min(total, before.Total())
			if total == 4 {
				kept = 1
			}
			require.Len(t, ran, kept)
			for item := range kept {
				require.Equal(t, 3, ran[item], "item %d of %d", item, total)
			}
			health := jobHealth(t, a, "orders")
			if !health.Leading {
				health = jobHealth(t, b, "orders")
			}
			require.Contains(t, health.Sharding, says)
			require.Len(t, health.Unowned, total-kept)
		}
		require.Equal(t, 3, log.count("items stay where they are: the sharding strategy gave no assignment"), "once for each count")
		well.Store(true)
		update(func(cfg *job.Config) { cfg.ShardingTotalCount = 5 })
		sleepUntil(111 * time.Second)
		c.take()
		sleepUntil(126 * time.Second)
		require.Len(t, c.take(), 3*5)
	})
}

// A strategy that answers the same question otherwise each time does not move the items for ever: where it has put them they
// stay, and that is said once. One that gets to where it wants them step by step is left alone.
func TestAFickleStrategy(t *testing.T) {
	t.Parallel()
	for _, fickle := range []bool{true, false} {
		inBubble(t, func(t *testing.T, c *cluster) {
			var log lines
			var asked atomic.Int32
			strategies := sharding.Default()
			require.NoError(t, strategies.Register("TEST", sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
				n := int(asked.Add(1))
				wanted := slices.Repeat(sharding.Assignment{r.Instances[0]}, r.Total)
				if fickle {
					wanted[n%r.Total] = r.Instances[len(r.Instances)-1]
					return wanted, nil
				}
				last := r.Instances[0]
				wanted = slices.Repeat(sharding.Assignment{r.Instances[len(r.Instances)-1]}, r.Total)
				for item, owner := range r.Current { // one more each time
					wanted[item] = last
					if owner != last {
						break
					}
				}
				return wanted, nil
			})))
			options := []scheduler.Option{scheduler.WithStrategies(strategies), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}
			cfg := jobOf(6)
			cfg.ShardingStrategy = "TEST"
			a := c.startWith("a", nil, options, cfg)
			c.startWith("b", nil, options, cfg)
			sleepUntil(5 * time.Minute)
			require.Less(t, asked.Load(), int32(40))
			h := jobHealth(t, a, "orders")
			require.Empty(t, h.Unowned)
			const says = "items stay where they are: the sharding strategy gave no assignment"
			if !fickle {
				require.Zero(t, log.count(says))
				require.Equal(t, map[string]int{fullID("b"): 6}, c.ownersOf("orders"))
				return
			}
			require.Contains(t, h.Sharding, "gives another answer each time")
			require.Positive(t, log.count(says))
			require.Less(t, log.count(says), 4, "once after each change of the members")
		})
	}
}

// A strategy that is a function of its request may go in a circle all the same, and would move items for ever. They stay where
// it has put them, until something changes, and that is said once.
func TestAStrategyThatGoesInACircle(t *testing.T) {
	t.Parallel()
	for _, length := range []int{2, 5} {
		inBubble(t, func(t *testing.T, c *cluster) {
			const says = "items stay where they are: the sharding strategy gave no assignment"
			var log lines
			var asked atomic.Int32
			var well atomic.Bool
			strategies := sharding.Default()
			require.NoError(t, strategies.Register("TEST", sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
				asked.Add(1)
				first, last := r.Instances[0], r.Instances[len(r.Instances)-1]
				wanted := slices.Repeat(sharding.Assignment{first}, r.Total)
				if well.Load() {
					return wanted, nil
				}
				wanted[(slices.Index(r.Current, last)+1)%length] = last // the one behind that which is there
				return wanted, nil
			})))
			options := []scheduler.Option{scheduler.WithStrategies(strategies), scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}
			cfg := jobOf(6)
			cfg.ShardingStrategy = "TEST"
			a := c.startWith("a", nil, options, cfg)
			b := c.startWith("b", nil, options, cfg)
			sleepUntil(5 * time.Minute)
			require.Less(t, asked.Load(), int32(80))
			leader := a
			if !jobHealth(t, a, "orders").Leading {
				leader = b
			}
			require.Contains(t, jobHealth(t, leader, "orders").Sharding, "in a circle")
			require.Empty(t, jobHealth(t, leader, "orders").Unowned)
			require.Equal(t, 1, log.count(says))
			before := asked.Load()
			cfg.Description = "another one"
			c.change(cfg)
			sleepUntil(10 * time.Minute)
			require.Less(t, asked.Load(), before+4, "it is not tried again from the beginning")
			require.Equal(t, 1, log.count(says))
			well.Store(true)
			cfg.Description = "right"
			c.change(cfg)
			sleepUntil(11 * time.Minute)
			require.Empty(t, jobHealth(t, leader, "orders").Sharding)
			require.Len(t, c.ownersOf("orders"), 1)
		})
	}
}

// Others than the leader do not ask a strategy of the application's, and say all the same that items belong to nobody.
func TestOthersSayThatItemsHaveNoOwner(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var well atomic.Bool
		strategies := sharding.Default()
		require.NoError(t, strategies.Register("TEST", sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
			if !well.Load() {
				return nil, errors.New("spoiled")
			}
			return sharding.AverageAllocation(r)
		})))
		options := []scheduler.Option{scheduler.WithStrategies(strategies)}
		cfg := jobOf(2)
		cfg.ShardingStrategy = "TEST"
		a := c.startWith("a", nil, options, cfg)
		b := c.startWith("b", nil, options, cfg)
		other := b
		sleepUntil(3 * time.Second)
		if jobHealth(t, b, "orders").Leading {
			other = a
		}
		require.Empty(t, jobHealth(t, other, "orders").Sharding, "the leader has time")
		sleepUntil(2 * time.Minute)
		require.Contains(t, jobHealth(t, other, "orders").Sharding, "its sharding strategy fails")
		well.Store(true)
		require.NoError(t, ordersOf(t, a).Update(t.Context(), func(cfg *job.Config) error { cfg.Description = "right"; return nil }))
		sleepUntil(3 * time.Minute)
		require.Empty(t, jobHealth(t, other, "orders").Sharding)
	})
}

// A leader whose sharding strategy goes wrong leaves the items where they are and says so, once. Its other work
// goes on, and that of its other jobs.
func TestABadStrategyHoldsUpNothingElse(t *testing.T) {
	t.Parallel()
	inEveryWay(t, func(t *testing.T, c *cluster, bad badCode, says string) {
		var log lines
		average, err := sharding.Default().Lookup("")
		require.NoError(t, err)
		strategies := sharding.Default()
		require.NoError(t, strategies.Register("TEST", sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
			if len(r.Instances) > 1 {
				bad.run()
			}
			return average.Assign(r)
		})))
		knows := scheduler.WithStrategies(strategies)
		cfg := jobOf(2)
		cfg.ShardingStrategy = "TEST"
		a := c.startWith("a", nil, []scheduler.Option{knows, scheduler.WithLogger(slog.New(slog.NewTextHandler(&log, nil)))}, cfg, job.Config{Name: "mails", Cron: everyFive, ShardingTotalCount: 2})
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 4)

		b := c.startWith("b", nil, []scheduler.Option{knows}, cfg, job.Config{Name: "mails", Cron: everyFive, ShardingTotalCount: 2})
		sleepUntil(31 * time.Second)
		runs := c.take()
		require.Len(t, runs, 5*4)
		for _, r := range runs {
			if r.sc.JobName == "orders" {
				require.Equal(t, "a", r.instance, "the items stay where they are")
				require.Equal(t, job.Scheduled, r.sc.Source)
			}
		}
		require.Contains(t, c.ownersOf("mails"), fullID("b"), "the other job was spread anew")
		require.True(t, jobHealth(t, a, "orders").Leading)
		require.Contains(t, jobHealth(t, a, "orders").Sharding, says)
		require.Empty(t, jobHealth(t, a, "mails").Sharding)
		require.Equal(t, 1, log.count("items stay where they are: the sharding strategy gave no assignment"))

		b.stop(t) // members are what the strategy can assign again
		sleepUntil(36 * time.Second)
		require.Empty(t, jobHealth(t, a, "orders").Sharding)
		began := time.Now()
		a.stop(t)
		require.Less(t, time.Since(began), time.Second)
	})
}

// A strategy that takes its time gives the assignment that members and settings want when it has returned.
func TestASlowStrategyIsWaitedFor(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		average, err := sharding.Default().Lookup("")
		require.NoError(t, err)
		asked := 0
		var strategies sharding.Registry
		require.NoError(t, strategies.Register("SLOW", sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
			asked++
			time.Sleep(15 * time.Second)
			return average.Assign(r)
		})))
		cfg := jobOf(2)
		cfg.ShardingStrategy = "SLOW"
		a := c.startWith("a", nil, []scheduler.Option{scheduler.WithStrategies(&strategies)}, cfg)
		sleepUntil(12 * time.Second)
		require.Contains(t, jobHealth(t, a, "orders").Sharding, scheduler.ErrNotReturned.Error())
		sleepUntil(21 * time.Second)
		require.Empty(t, jobHealth(t, a, "orders").Sharding)
		require.Equal(t, map[string]int{fullID("a"): 2}, c.ownersOf("orders"))
		require.Len(t, c.take(), 4, "at 15 and at 20")
		require.Equal(t, jobtree.Counts{Success: 2}, c.state().Item(0).Record.Value.Counts)
		sleepUntil(time.Minute)
		require.LessOrEqual(t, asked, 2, "once for the assignment, and once for what it has made")
	})
}

// slowConfigure is code of which Configure takes three seconds, and whose items say by what configuration they run.
type slowConfigure struct{ ran chan string }

func (s slowConfigure) Configure(cfg job.Config) (job.HandlerFunc, error) {
	time.Sleep(3 * time.Second)
	return func(context.Context, job.ShardingContext) error {
		s.ran <- fmt.Sprintf("%q at %s", cfg.JobParameter, time.Since(bubbleStart))
		return nil
	}, nil
}

// While Configure takes its time, nothing begins by what it made of another configuration, and the job does not
// pause: what is due runs when the code is there. Nobody else is told of it, however many items that are.
func TestASlowConfigureIsWaitedFor(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		code := slowConfigure{ran: make(chan string, 10)}
		cfg := jobOf(1)
		i := c.startCode("a", code, cfg) // it was asked for the declaration and now for the job
		sleepUntil(8 * time.Second)
		cfg.JobParameter = "other"
		c.change(cfg)
		sleepUntil(9 * time.Second)
		require.Equal(t, fullID("a"), c.state().Leader.Instance)
		before := i.registry.Stats().CommitRequests
		sleepUntil(10900 * time.Millisecond) // its fire of second 10 waits
		require.Equal(t, before, i.registry.Stats().CommitRequests)
		sleepUntil(16 * time.Second)
		require.Equal(t, `"" at 6s`, <-code.ran, "the fire of second 5 had waited for the first answer")
		require.Equal(t, `"other" at 11s`, <-code.ran)
		require.Equal(t, `"other" at 15s`, <-code.ran)
		require.Empty(t, code.ran)
	})
}

// A process that joins has its items before its code has made anything of the settings. The fires of that time are theirs.
func TestAFireWhileTheCodeOfANewcomerIsAsked(t *testing.T) {
	t.Parallel()
	for _, policy := range []job.MisfirePolicy{job.MisfireOnce, job.MisfireAll, job.MisfireSkip} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(4)
				cfg.Misfire = policy
				c.start("a", nil, cfg)
				sleepUntil(5500 * time.Millisecond)
				code := slowConfigure{ran: make(chan string, 20)}
				c.startCode("b", code, cfg) // asked until 8.5 s for the declaration, and from then on for the job
				sleepUntil(10 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 2, fullID("b"): 2}, c.owners())
				sleepUntil(16 * time.Second)
				ran := map[string]int{}
				for range len(code.ran) {
					ran[<-code.ran]++
				}
				require.Equal(t, map[string]int{`"" at 11.5s`: 2, `"" at 15s`: 2}, ran)
			})
		})
	}
}

// However often members change while a strategy hangs, few calls of it are under way; when they return, the newest
// members get their items.
func TestAStrategyThatHangsIsNotAskedWithoutEnd(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		average, err := sharding.Default().Lookup("")
		require.NoError(t, err)
		forever := make(chan struct{})
		var hanging atomic.Int64
		strategies := sharding.Default()
		require.NoError(t, strategies.Register("TEST", sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
			if len(r.Instances) > 1 {
				hanging.Add(1)
				<-forever
				hanging.Add(-1)
			}
			return average.Assign(r)
		})))
		cfg := jobOf(7)
		cfg.ShardingStrategy = "TEST"
		for n := range 7 {
			c.startWith(fmt.Sprint(n), nil, []scheduler.Option{scheduler.WithStrategies(strategies)}, cfg)
			time.Sleep(time.Second)
		}
		require.Equal(t, int64(4), hanging.Load())
		require.Equal(t, map[string]int{fullID("0"): 7}, c.ownersOf("orders"))
		close(forever)
		sleepUntil(10 * time.Second)
		require.Len(t, c.ownersOf("orders"), 7)
	})
}
