package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// hookedCluster starts instances whose jobs have hooks that note when, where and for what they run.
type hookedCluster struct {
	*cluster
	diary
	work    job.HandlerFunc
	hook    func(ctx context.Context, phase string) error // what hooks do besides; nil = nothing
	started time.Duration
	ended   time.Duration
	members map[string]*instance
}

func withHooks(c *cluster) *hookedCluster {
	return &hookedCluster{cluster: c, started: 20 * time.Second, ended: 40 * time.Second, members: make(map[string]*instance)}
}

func (g *hookedCluster) hookOf(id, phase string) func(context.Context, job.WholeRound) error {
	return func(ctx context.Context, round job.WholeRound) error {
		fire := "by hand"
		if !round.Fire.IsZero() {
			fire = round.Fire.Sub(bubbleStart).String()
		}
		g.note("%s %s on %s, items %v, failed %v", phase, fire, id, round.Items, round.Failed)
		if g.hook != nil {
			return g.hook(ctx, phase)
		}
		return nil
	}
}

func (g *hookedCluster) join(id string, cfg job.Config) *instance {
	g.t.Helper()
	once := scheduler.WithWholeRoundListener(job.WholeRoundListener{
		AllStarted: g.hookOf(id, "started"), StartedWithin: g.started,
		AllCompleted: g.hookOf(id, "completed"), CompletedWithin: g.ended,
	})
	work := func(ctx context.Context, sc job.ShardingContext) error {
		g.note("item %d begins", sc.Item)
		if g.work == nil {
			time.Sleep(time.Second)
			return nil
		}
		return g.work(ctx, sc)
	}
	i := g.launchWith(id, work, []scheduler.Option{scheduler.WithObserver(&g.diary)}, []scheduler.JobOption{once}, cfg)
	<-i.Ready()
	return i
}

// minutely fires at second 5 of each minute.
func minutely(total int) job.Config {
	return job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: total}
}

// linesWith returns the notes that begin with a text, in order.
func linesWith(lines []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return len(line) < len(prefix) || line[:len(prefix)] != prefix })
}

// Each hook runs on one instance, once a round: the first before the code of any item, the second
// after all have ended. An instance without items is not awaited, and neither is a disabled item.
func TestHooksRunOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		for _, id := range []string{"a", "b", "c", "d", "e"} {
			g.join(id, jobOf(4)) // one of the five has no item
		}
		_, err := g.at().Commit(t.Context(), registryPut(jobtree.For("orders").ItemDisabled(2), ""))
		require.NoError(t, err)
		sleepUntil(4 * time.Second)
		for round := range 3 {
			g.read()
			sleepUntil(time.Duration(9+5*round) * time.Second)
			lines := g.read()
			require.Len(t, lines, 7, "%q", lines)
			fire := time.Duration(5+5*round) * time.Second
			require.Regexp(t, fmt.Sprintf(`^started %s on ., items \[0 1 3\], failed \[\]$`, fire), lines[0])
			require.Len(t, linesWith(lines[1:5], "item"), 3)
			require.Regexp(t, fmt.Sprintf(`^completed %s on ., items \[0 1 3\], failed \[\]$`, fire), lines[5])
			require.Equal(t, fmt.Sprintf("completed %s settled: success, <nil>", fire), lines[6])
			require.Contains(t, lines, fmt.Sprintf("started %s settled: success, <nil>", fire))
		}
		for _, phase := range jobtree.Phases {
			b := c.state().Barrier(phase)
			require.False(t, b.Hook.Exists())
			require.Equal(t, jobtree.BarrierSuccess, b.Round.Value.Outcome)
			require.Equal(t, jobtree.BarrierSuccess, b.Round.Value.Previous.Outcome)
			require.NotEmpty(t, b.Round.Value.Done)
		}
	})
}

// at returns a registry beside the instances.
func (g *hookedCluster) at() *memory.Registry {
	reg := g.server.Open("test")
	g.t.Cleanup(func() { _ = reg.Close(context.Background()) })
	return reg
}

// A round with both hooks costs each instance its two requests, and the cluster two for each hook.
// Nothing is read.
func TestCostOfHooks(t *testing.T) {
	t.Parallel()
	for _, items := range []int{3, 99} {
		inBubble(t, func(t *testing.T, c *cluster) {
			g := withHooks(c)
			all := []*instance{g.join("a", minutely(items)), g.join("b", minutely(items)), g.join("c", minutely(items))}
			count := func() (commits, reads int) {
				for _, i := range all {
					stats := i.registry.Stats()
					commits += stats.CommitRequests
					reads += stats.ReadRequests
				}
				return commits, reads
			}
			sleepUntil(time.Minute)
			commits, reads := count()
			sleepUntil(2 * time.Minute)
			commitsAfter, readsAfter := count()
			require.Equal(t, 3*2+2*2, commitsAfter-commits, "commit requests")
			require.Zero(t, readsAfter-reads, "read requests")
		})
	}
}

// moments lists times from the start of a bubble, in milliseconds.
func moments(from, until, step int) []time.Duration {
	var all []time.Duration
	for at := from; at < until; at += step {
		all = append(all, time.Duration(at)*time.Millisecond)
	}
	return all
}

// Whatever party crashes, and whenever: no hook runs twice, every barrier is settled, and every item
// runs.
func TestHooksAndACrash(t *testing.T) {
	t.Parallel()
	// The begins, the end of the started hook, the ends, and the end of the completed hook.
	moments := slices.Concat(moments(4990, 5060, 10), moments(5790, 5860, 10), moments(7290, 7400, 15), moments(8180, 8260, 15), moments(5400, 8000, 300))
	for _, victim := range []string{"a", "b", "c"} {
		t.Run(victim, func(t *testing.T) {
			t.Parallel()
			for _, at := range moments {
				inBubble(t, func(t *testing.T, c *cluster) {
					g := withHooks(c)
					// Items of 1.5 s between hooks of 0.8 s: the crash meets each of them.
					g.hook = func(ctx context.Context, _ string) error {
						select {
						case <-time.After(800 * time.Millisecond):
							return nil
						case <-ctx.Done():
							return context.Cause(ctx)
						}
					}
					g.work = func(ctx context.Context, sc job.ShardingContext) error {
						select {
						case <-time.After(1500*time.Millisecond + time.Duration(sc.Item)*10*time.Millisecond):
							return nil
						case <-ctx.Done():
							return context.Cause(ctx)
						}
					}
					cfg := minutely(5)
					cfg.Failover = true
					all := map[string]*instance{"a": g.join("a", cfg), "b": g.join("b", cfg), "c": g.join("c", cfg)}
					for _, i := range all {
						i.registry.SetLatency(7 * time.Millisecond)
					}
					sleepUntil(at)
					all[victim].crash(t)
					sleepUntil(55 * time.Second)
					lines := g.read()
					st := c.state()
					for _, phase := range []string{"started", "completed"} {
						runs := linesWith(lines, phase+" 5s on")
						require.LessOrEqual(t, len(runs), 1, "crash at %s: %q", at, lines)
						b := st.Barrier(map[string]jobtree.Phase{"started": jobtree.PhaseStarted, "completed": jobtree.PhaseCompleted}[phase])
						require.False(t, b.Hook.Exists(), "crash at %s", at)
						outcome := b.Round.Value.Outcome
						require.Contains(t, []jobtree.BarrierOutcome{jobtree.BarrierSuccess, jobtree.BarrierLost}, outcome, "crash at %s: %s %q", at, phase, lines)
						if outcome == jobtree.BarrierSuccess {
							require.Len(t, runs, 1, "crash at %s: %q", at, lines)
						}
					}
					for n := range 5 {
						record := st.Item(n).Record.Value
						require.Equal(t, jobtree.ItemIdle, record.State, "crash at %s", at)
						require.Equal(t, jobtree.Success, record.Current.Outcome, "crash at %s", at)
					}
				})
			}
		})
	}
}

// Members come and go, items are disabled, and the count changes while a round gathers and while it
// runs.
func TestHooksAndChange(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	changes := map[string]func(t *testing.T, g *hookedCluster){
		"an instance joins": func(_ *testing.T, g *hookedCluster) { g.join("z", minutely(5)) },
		"an instance stops": func(t *testing.T, g *hookedCluster) { g.members["b"].stop(t) },
		"fewer items":       func(_ *testing.T, g *hookedCluster) { g.change(minutely(2)) },
		"more items":        func(_ *testing.T, g *hookedCluster) { g.change(minutely(9)) },
		"a disabled item": func(t *testing.T, g *hookedCluster) {
			_, err := g.at().Commit(t.Context(), registryPut(tree.ItemDisabled(4), ""))
			require.NoError(t, err)
		},
	}
	counts := map[string]bool{"fewer items": true, "more items": true}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, at := range slices.Concat(moments(4990, 5060, 10), moments(5300, 6300, 300), moments(6010, 6060, 20)) {
				inBubble(t, func(t *testing.T, c *cluster) {
					g := withHooks(c)
					for _, id := range []string{"a", "b"} {
						g.members[id] = g.join(id, minutely(5))
						g.members[id].registry.SetLatency(7 * time.Millisecond)
					}
					sleepUntil(at)
					change(t, g)
					sleepUntil(50 * time.Second)
					lines := g.read()
					awaited := min(len(c.state().Barrier(jobtree.PhaseCompleted).Round.Value.Items), c.state().Total())
					for _, phase := range []string{"started", "completed"} {
						outcome, want := "success", 1
						if len(linesWith(lines, "item")) < awaited && counts[name] {
							outcome, want = "timeout", 0 // an item that moved meanwhile does not run the fire at all
						}
						require.Len(t, linesWith(lines, phase+" 5s on"), want, "change at %s: %q", at, lines)
						require.Equal(t, []string{phase + " 5s settled: " + outcome + ", <nil>"}, linesWith(lines, phase+" 5s settled"), "change at %s: %q", at, lines)
					}
					sleepUntil(110 * time.Second)
					lines = g.read()
					for _, phase := range []string{"started", "completed"} {
						require.Len(t, linesWith(lines, phase+" 1m5s on"), 1, "change at %s: %q", at, lines)
					}
				})
			}
		})
	}
}

// Items that cannot come together in time run without the started hook, and the completed hook does
// not run. Both are recorded.
func TestHooksWithADeadline(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		g.started, g.ended = 3*time.Second, 6*time.Second
		g.work = func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 && sc.Fire.Equal(bubbleStart.Add(5*time.Second)) {
				time.Sleep(time.Minute + 10*time.Second) // over the next fire
			}
			return nil
		}
		g.join("a", minutely(2))
		g.join("b", minutely(2))
		sleepUntil(64 * time.Second)
		require.Equal(t, []string{"completed 5s settled: timeout, <nil>"}, linesWith(g.read(), "completed"))
		sleepUntil(67 * time.Second)
		require.Empty(t, g.read(), "item 0 waits for item 1")
		sleepUntil(74 * time.Second)
		require.ElementsMatch(t, []string{
			"started 1m5s settled: timeout, <nil>", "item 0 begins", "completed 1m5s settled: timeout, <nil>",
		}, g.read())
		require.Equal(t, jobtree.BarrierTimeout, c.state().Barrier(jobtree.PhaseStarted).Round.Value.Outcome)
		sleepUntil(2 * time.Minute)
		require.Equal(t, []string{"item 1 begins"}, g.read(), "the missed fire is made up without hooks")
	})
}

// Hooks that fail, panic or never return are recorded as failed, and everything goes on.
func TestHooksThatFail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		hook func() error
		want string
	}{
		"error": {func() error { return errors.New("no disk") }, "no disk"},
		"panic": {func() error { panic("oops") }, "panic: oops"},
		"never": {nil, "did not return when its context had ended: " + scheduler.ErrListenerTimeout.Error()},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				block := make(chan struct{})
				g := withHooks(&cluster{t: t, server: memory.NewServer()})
				g.started = 50 * time.Second
				g.hook = func(context.Context, string) error {
					if test.hook == nil {
						<-block
						return nil
					}
					return test.hook()
				}
				i := g.join("a", minutely(2))
				sleepUntil(4 * time.Second)
				g.read()
				sleepUntil(105 * time.Second)
				i.cancel()
				err := i.ended()
				if test.hook == nil {
					require.ErrorContains(t, err, "hook listener did not return")
				} else {
					require.NoError(t, err)
				}
				lines := g.read()
				require.Equal(t, []string{"completed 5s settled: failure, " + test.want}, linesWith(lines, "completed 5s settled"))
				require.Equal(t, []string{"started 5s settled: failure, " + test.want}, linesWith(lines, "started 5s settled"))
				require.Len(t, linesWith(lines, "item"), 4)
				close(block)
			})
		})
	}
}

// A request by hand is a round, too.
func TestHooksOfARunByHand(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		a := g.join("a", yearly(3))
		g.join("b", yearly(3))
		for range 2 {
			sleepUntil(time.Since(bubbleStart) + 2*time.Second)
			g.read()
			trigger(t, a)
			sleepUntil(time.Since(bubbleStart) + 5*time.Second)
			lines := g.read()
			require.Len(t, linesWith(lines, "started by hand"), 1, "%q", lines)
			require.Len(t, linesWith(lines, "item"), 3)
			require.Len(t, linesWith(lines, "completed by hand"), 1, "%q", lines)
		}
	})
}

// The completed hook hears which items failed.
func TestTheCompletedHookHearsOfFailures(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		g.work = func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item%2 == 1 {
				return errors.New("out of stock")
			}
			return nil
		}
		g.join("a", minutely(4))
		sleepUntil(10 * time.Second)
		require.Equal(t, []string{"completed 5s on a, items [0 1 2 3], failed [1 3]"}, linesWith(g.read(), "completed 5s on"))
	})
}

// A round that is not complete when the next one begins is replaced, and a hook that still runs then
// delays the next one's. None runs twice.
func TestRoundsThatOverlap(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		g.hook = func(_ context.Context, phase string) error {
			if phase == "completed" {
				time.Sleep(7 * time.Second) // longer than the interval of the fires
			}
			return nil
		}
		g.join("a", jobOf(2))
		g.join("b", jobOf(2))
		sleepUntil(34 * time.Second)
		lines := g.read()
		require.Len(t, linesWith(lines, "started"), 2*6, "%q", lines)
		ran := linesWith(lines, "completed 5s on")
		require.Len(t, ran, 1)
		require.Equal(t, []string{"completed 5s settled: success, <nil>"}, linesWith(lines, "completed 5s settled"))
		for _, fire := range []string{"5s", "10s", "15s", "20s", "25s"} {
			require.LessOrEqual(t, len(linesWith(lines, "completed "+fire+" on")), 1, "%q", lines)
		}
		require.GreaterOrEqual(t, len(linesWith(lines, "completed")), 6, "%q", lines)
	})
}

func TestWholeRoundListenersAreChecked(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	defer reg.Close(context.Background())
	s, err := scheduler.New(reg)
	require.NoError(t, err)
	good := job.WholeRoundListener{AllCompleted: func(context.Context, job.WholeRound) error { return nil }, CompletedWithin: time.Minute}
	unmonitored := jobOf(1)
	unmonitored.Unmonitored = true
	delayed := jobOf(2)
	delayed.Cron = "@delay 10s"
	spaced, tabbed := delayed, delayed
	spaced.Cron, tabbed.Cron = " @delay 10s", "@delay\t10s"
	for name, test := range map[string]struct {
		cfg  job.Config
		opts []scheduler.JobOption
		want string
	}{
		"no hook":     {jobOf(1), []scheduler.JobOption{scheduler.WithWholeRoundListener(job.WholeRoundListener{})}, "one must be given"},
		"no deadline": {jobOf(1), []scheduler.JobOption{scheduler.WithWholeRoundListener(job.WholeRoundListener{AllCompleted: good.AllCompleted})}, "CompletedWithin is 0s, must be above 0"},
		"two":         {jobOf(1), []scheduler.JobOption{scheduler.WithWholeRoundListener(good), scheduler.WithWholeRoundListener(good)}, "a job can have one"},
		"unmonitored": {unmonitored, []scheduler.JobOption{scheduler.WithWholeRoundListener(good)}, "needs a job that is not Unmonitored"},
		"delayed":     {delayed, []scheduler.JobOption{scheduler.WithWholeRoundListener(good)}, "whose cron is no @delay"},
		"spaced":      {spaced, []scheduler.JobOption{scheduler.WithWholeRoundListener(good)}, "whose cron is no @delay"},
		"tabbed":      {tabbed, []scheduler.JobOption{scheduler.WithWholeRoundListener(good)}, "whose cron is no @delay"},
	} {
		_, err := s.Add(t.Context(), test.cfg, job.HandlerFunc(untilDone), test.opts...)
		require.ErrorIs(t, err, scheduler.ErrInvalidOption, name)
		require.ErrorContains(t, err, test.want, name)
	}
}

// A job that is removed and created again begins anew: its hooks do not run once more for rounds of the job before.
func TestHooksOfAJobThatIsCreatedAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		g.join("a", minutely(2))
		sleepUntil(10 * time.Second)
		require.Len(t, linesWith(g.read(), "completed 5s on"), 1)
		stored, err := g.at().Get(t.Context(), ofOrders.Config())
		require.NoError(t, err)
		c.removeJob("orders")
		sleepUntil(20 * time.Second)
		_, err = g.at().Commit(t.Context(), registryPut(stored.Path, stored.Value))
		require.NoError(t, err)
		sleepUntil(50 * time.Second)
		lines := g.read()
		require.Empty(t, append(linesWith(lines, "started"), linesWith(lines, "completed")...))
		sleepUntil(70 * time.Second)
		require.Len(t, linesWith(g.read(), "completed 1m5s on"), 1, "as ever")
	})
}

// Somebody deletes or spoils the barriers of a round by hand, while it runs or when it is over: no hook runs again for it, and
// those of the next rounds run as ever.
func TestHooksOfABarrierThatWasDeleted(t *testing.T) {
	t.Parallel()
	for _, write := range []func(path string) registry.Write{registry.Delete, func(path string) registry.Write { return registry.Put(path, "{") }} {
		for _, at := range []time.Duration{5500 * time.Millisecond, 20 * time.Second} {
			inBubble(t, func(t *testing.T, c *cluster) {
				g := withHooks(c)
				g.join("a", minutely(3))
				g.join("b", minutely(3))
				sleepUntil(at)
				_, err := g.at().Commit(t.Context(), registry.Txn{
					Then: []registry.Write{write(ofOrders.Barrier(jobtree.PhaseStarted)), write(ofOrders.Barrier(jobtree.PhaseCompleted))},
				})
				require.NoError(t, err)
				sleepUntil(2*time.Minute + 50*time.Second)
				lines := g.read()
				require.Len(t, linesWith(lines, "started 5s on"), 1, "%q", lines)
				require.LessOrEqual(t, len(linesWith(lines, "completed 5s on")), 1, "%q", lines)
				for _, fire := range []string{"1m5s", "2m5s"} {
					require.Len(t, linesWith(lines, "started "+fire+" on"), 1, "%q", lines)
					require.Len(t, linesWith(lines, "completed "+fire+" on"), 1, "%q", lines)
				}
			})
		}
	}
}

// With a fixed delay that somebody stores later there are no rounds together, so no item waits for another, and no hook runs.
func TestHooksAndAFixedDelayLater(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		g.work = func(_ context.Context, sc job.ShardingContext) error {
			time.Sleep(time.Duration(1+4*sc.Item) * time.Second)
			return nil
		}
		cfg := minutely(2)
		g.join("a", cfg)
		sleepUntil(30 * time.Second)
		g.read()
		cfg.Cron = "@delay 10s"
		text, err := jobtree.EncodeConfig(cfg)
		require.NoError(t, err)
		_, err = g.at().Commit(t.Context(), registryPut(ofOrders.Config(), text))
		require.NoError(t, err)
		sleepUntil(2*time.Minute + 20*time.Second)
		lines := g.read()
		require.GreaterOrEqual(t, len(linesWith(lines, "item 0 begins")), 9, "%q", lines)
		require.GreaterOrEqual(t, len(linesWith(lines, "item 1 begins")), 7, "%q", lines)
		require.Empty(t, append(linesWith(lines, "started"), linesWith(lines, "completed")...))
	})
}

// What waits for a hook when the job comes to have no rounds together does not wait any longer: no hook comes. One that runs
// already is waited for.
func TestWhatWaitsForAHookThatDoesNotComeAnyMore(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*job.Config){
		"a fixed delay":   func(cfg *job.Config) { cfg.Cron = "@delay 1h" },
		"without records": func(cfg *job.Config) { cfg.Unmonitored = true },
	} {
		for _, runs := range []bool{false, true} {
			inBubble(t, func(t *testing.T, c *cluster) {
				g := withHooks(c)
				g.started = time.Hour
				g.work = func(_ context.Context, sc job.ShardingContext) error {
					if sc.Item == 1 && !runs {
						time.Sleep(90 * time.Second)
					}
					return nil
				}
				g.hook = func(_ context.Context, phase string) error {
					if phase == "started" && runs {
						time.Sleep(8 * time.Second)
					}
					return nil
				}
				cfg := minutely(2)
				g.join("a", cfg)
				g.join("b", cfg)
				sleepUntil(66 * time.Second)
				g.read()
				change(&cfg)
				c.change(cfg)
				sleepUntil(70 * time.Second)
				require.Equal(t, !runs, slices.Contains(g.read(), "item 0 begins"), name)
				sleepUntil(75 * time.Second)
				require.Equal(t, runs, slices.Contains(g.read(), "item 0 begins"), name)
			})
		}
	}
}

// Nobody takes a hook for which nothing waits any more, also who does not know that yet: the items would have begun before it.
func TestAHookIsNotTakenByOldSettings(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		cfg := minutely(2)
		g.join("a", cfg)
		b := g.join("b", cfg)
		sleepUntil(64 * time.Second)
		g.read()
		b.registry.SetLatency(300 * time.Millisecond)
		sleepUntil(65*time.Second + 400*time.Millisecond)
		cfg.Unmonitored = true
		c.change(cfg)
		sleepUntil(69 * time.Second)
		lines := g.read()
		require.Len(t, linesWith(lines, "item"), 2)
		begun := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "item") })
		require.Empty(t, linesWith(lines[begun:], "started"), "%v", lines)
	})
}

// A hook that its instance's session does not outlast is told of once, as lost, by who records that.
func TestALostHookIsToldOfOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		g.hook = func(ctx context.Context, phase string) error {
			if phase == "completed" {
				<-ctx.Done()
			}
			return context.Cause(ctx)
		}
		a, b := g.join("a", minutely(2)), g.join("b", minutely(2))
		sleepUntil(10 * time.Second)
		ran := linesWith(g.read(), "completed 5s on")
		require.Len(t, ran, 1)
		if strings.Contains(ran[0], "on a") {
			a.registry.Expire()
		} else {
			b.registry.Expire()
		}
		sleepUntil(50 * time.Second)
		lines := g.read()
		require.Equal(t, []string{"completed 5s settled: lost, <nil>"}, linesWith(lines, "completed 5s settled"), "%q", lines)
	})
}

// A round that is complete only when its time is over has no hook any more.
func TestARoundThatIsCompleteTooLate(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		g.ended = 20 * time.Second
		g.work = func(context.Context, job.ShardingContext) error {
			time.Sleep(18 * time.Second)
			return nil
		}
		a := g.join("a", minutely(2))
		sleepUntil(22 * time.Second)
		a.registry.Cut()
		sleepUntil(27 * time.Second)
		a.registry.Heal()
		sleepUntil(50 * time.Second)
		lines := g.read()
		require.Empty(t, linesWith(lines, "completed 5s on"), "%q", lines)
		require.Equal(t, []string{"completed 5s settled: timeout, <nil>"}, linesWith(lines, "completed 5s settled"), "%q", lines)
	})
}

// An item that waits for the started hook and must not begin any more, or for which nobody is left to wait, has not run: its
// fire is a missed one, and no stop waits for it.
func TestWhatWaitsForTheStartedHookIsGivenBack(t *testing.T) {
	t.Parallel()
	const fires, stops = 65 * time.Second, 67 * time.Second
	givenBack := func(t *testing.T, g *hookedCluster) {
		t.Helper()
		record := g.state().Record(0).Value
		require.Equal(t, jobtree.NotStarted, record.Current.Outcome)
		require.Equal(t, 5*time.Second, record.LastFire.Sub(bubbleStart))
	}
	tests := map[string]struct {
		beside bool // another instance, which has item 1
		event  func(t *testing.T, g *hookedCluster, a *instance)
		within time.Duration // that the event takes at most
	}{
		"its instance was the only one": {
			event: func(t *testing.T, g *hookedCluster, a *instance) {
				a.stop(t)
				givenBack(t, g)
			},
			within: 9 * time.Second, // item 1 runs until second 75
		},
		"the stop is over": {
			beside: true, // whose item 1 runs for longer than the stop may take
			event:  func(t *testing.T, _ *hookedCluster, a *instance) { a.stop(t) },
			within: 30 * time.Second,
		},
		"the job was disabled": {
			event: func(t *testing.T, g *hookedCluster, _ *instance) {
				cfg := minutely(2)
				cfg.Disabled = true
				g.change(cfg)
				time.Sleep(time.Second)
				givenBack(t, g)
				g.change(minutely(2))
			},
			within: time.Second,
		},
		"the item was disabled": {
			event: func(t *testing.T, g *hookedCluster, _ *instance) {
				_, err := g.at().Commit(t.Context(), registryPut(jobtree.For("orders").ItemDisabled(0), ""))
				require.NoError(t, err)
				time.Sleep(time.Second)
				givenBack(t, g)
				_, err = g.at().Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(jobtree.For("orders").ItemDisabled(0))}})
				require.NoError(t, err)
			},
			within: time.Second,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				g := withHooks(c)
				g.started, g.ended = 40*time.Second, 50*time.Second
				busy := 70 * time.Second
				if test.beside {
					busy = 95 * time.Second
				}
				g.work = func(_ context.Context, sc job.ShardingContext) error {
					if fire := sc.Fire.Sub(bubbleStart); sc.Item == 0 {
						g.note("for %s", fire)
					} else if fire < fires {
						time.Sleep(busy) // over the next fire
					}
					return nil
				}
				all := map[string]*instance{fullID("a"): g.join("a", minutely(2))}
				if test.beside {
					all[fullID("b")] = g.join("b", minutely(2))
				}
				sleepUntil(stops)
				require.Equal(t, jobtree.ItemRunning, c.state().Record(0).Value.State)
				test.event(t, g, all[c.state().Owner(0)])
				require.LessOrEqual(t, time.Since(bubbleStart), stops+test.within)
				if !test.beside {
					require.Equal(t, []string{"for 5s"}, linesWith(g.read(), "for "))
				}
				g.join("c", minutely(2))
				sleepUntil(2 * time.Minute)
				require.Equal(t, []string{"for 1m5s"}, linesWith(g.read(), "for 1m5s"), "it was made up")
			})
		})
	}
}

// A stop waits for a started hook that runs, and for the code behind it.
func TestAStopDuringTheStartedHook(t *testing.T) {
	t.Parallel()
	for _, beside := range []bool{false, true} {
		t.Run(fmt.Sprintf("beside=%t", beside), func(t *testing.T) {
			t.Parallel()
			for _, at := range slices.Concat(moments(4990, 5060, 10), []time.Duration{7 * time.Second}) {
				inBubble(t, func(t *testing.T, c *cluster) {
					g := withHooks(c)
					g.hook = func(_ context.Context, phase string) error {
						if phase == "started" {
							time.Sleep(5 * time.Second)
						}
						return nil
					}
					all := []*instance{g.join("a", minutely(2))}
					if beside {
						all = append(all, g.join("b", minutely(2)))
					}
					for _, i := range all {
						i.registry.SetLatency(7 * time.Millisecond)
					}
					sleepUntil(at)
					for _, i := range all {
						i.cancel()
					}
					sleepUntil(30 * time.Second)
					lines := g.read()
					hooks := len(linesWith(lines, "started 5s on"))
					require.Len(t, linesWith(lines, "item"), 2*hooks, "stopped at %s: %q", at, lines)
					if at > 6*time.Second {
						require.Equal(t, 1, hooks)
					}
				})
			}
		})
	}
}

// An instance stands still in the moment in which a hook falls to it, and its session goes on: a second later another one takes
// the hook. It runs once, also if both want it at the same time.
func TestAHookThatFallsToWhoStandsStill(t *testing.T) {
	t.Parallel()
	// When the last item has arrived, by a handle whose messages take 7 ms.
	for phase, complete := range map[string]time.Duration{"started": 5007 * time.Millisecond, "completed": 7049 * time.Millisecond} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			takers := make(map[bool]int)
			for _, still := range slices.Concat(moments(985, 1050, 5), []time.Duration{500 * time.Millisecond, 3 * time.Second}) {
				inBubble(t, func(t *testing.T, c *cluster) {
					g := withHooks(c)
					g.work = func(_ context.Context, sc job.ShardingContext) error {
						time.Sleep(time.Duration(1+sc.Item) * time.Second)
						return nil
					}
					var took time.Duration
					g.hook = func(_ context.Context, of string) error {
						if of == phase && took == 0 {
							took = time.Since(bubbleStart) - complete
						}
						return nil
					}
					all := map[string]*instance{fullID("a"): g.join("a", minutely(2)), fullID("b"): g.join("b", minutely(2))}
					sleepUntil(4 * time.Second)
					last := c.state().Owner(1)
					all[last].registry.SetLatency(7 * time.Millisecond)
					sleepUntil(complete + 3*time.Millisecond)
					all[last].registry.Pause()
					sleepUntil(complete + still)
					all[last].registry.Resume()
					sleepUntil(20 * time.Second)
					lines := g.read()
					ran := linesWith(lines, phase+" 5s on ")
					require.Len(t, ran, 1, "still for %s: %q", still, lines)
					byLast := strings.HasPrefix(ran[0], phase+" 5s on "+last[len(last)-1:]+",")
					takers[byLast]++
					if still > 1100*time.Millisecond {
						require.False(t, byLast, "still for %s: %q", still, lines)
						require.Less(t, took, 1100*time.Millisecond, "still for %s", still)
					}
					for _, p := range []string{"started", "completed"} {
						require.Equal(t, []string{p + " 5s settled: success, <nil>"}, linesWith(lines, p+" 5s settled"), "still for %s: %q", still, lines)
					}
					require.Len(t, linesWith(lines, "item"), 2, "still for %s: %q", still, lines)
				})
			}
			require.Len(t, takers, 2, "each of the two has taken it sometimes")
		})
	}
}

// takeID gives the id of an instance to another session, as when somebody deletes its node and another process that was
// given the same id joins.
func (g *hookedCluster) takeID(id string) {
	g.t.Helper()
	other, path := g.at(), ofOrders.Instance(fullID(id))
	session, err := other.Session(g.t.Context())
	require.NoError(g.t, err)
	for _, write := range []registry.Write{registry.Delete(path), registry.PutOwned(path, "", session)} {
		require.NoError(g.t, errOf(other.Commit(g.t.Context(), registry.Txn{Then: []registry.Write{write}})))
	}
}

// Another session holds the id of an instance whose items wait for the started hook: they wait no longer than they may.
func TestWhatWaitsForTheStartedHookWhereTheIDIsTaken(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		g := withHooks(c)
		g.started = 5 * time.Second
		g.work = func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 && sc.Fire.Equal(bubbleStart.Add(5*time.Second)) {
				time.Sleep(70 * time.Second) // over the next fire
			}
			return nil
		}
		g.join("a", minutely(2)).registry.SetLatency(7 * time.Millisecond) // slower than whoever takes the id
		sleepUntil(66 * time.Second)
		g.read()
		g.takeID("a")
		sleepUntil(69 * time.Second)
		require.Empty(t, g.read(), "item 0 waits for item 1")
		sleepUntil(71 * time.Second)
		require.ElementsMatch(t, []string{"started 1m5s settled: timeout, <nil>", "item 0 begins"}, g.read())
	})
}

// An instance whose id another session holds takes no hook, although its item is the last one to end. Its own hook that
// runs, it settles.
func TestHooksOfAnInstanceWhoseIDIsTaken(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		taken time.Duration // when the id is
		hook  string        // who runs the completed hook
	}{
		"while the last item runs": {taken: 6500 * time.Millisecond, hook: "b"},
		"while its hook runs":      {taken: 8 * time.Second, hook: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				g := withHooks(c)
				g.work = func(_ context.Context, sc job.ShardingContext) error {
					time.Sleep(time.Duration(1+sc.Item) * time.Second)
					return nil
				}
				g.hook = func(_ context.Context, phase string) error {
					if phase == "completed" {
						time.Sleep(3 * time.Second)
					}
					return nil
				}
				a, b := g.join("a", minutely(2)), g.join("b", minutely(2))
				b.registry.SetLatency(20 * time.Millisecond) // a sees first what is complete
				sleepUntil(test.taken)
				require.Equal(t, fullID("a"), c.state().Owner(1))
				a.registry.SetLatency(7 * time.Millisecond)
				g.takeID("a")
				sleepUntil(20 * time.Second)
				lines := g.read()
				require.Equal(t, []string{
					"completed 5s on " + test.hook + ", items [0 1], failed []", "completed 5s settled: success, <nil>",
				}, linesWith(lines, "completed"), "%q", lines)
			})
		})
	}
}
