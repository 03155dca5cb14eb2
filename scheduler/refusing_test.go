package scheduler_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

const (
	leftByRefusal  = "this process cannot use the job's configuration: the instance leaves the job to others until it can"
	aloneByRefusal = "this process cannot use the job's configuration, and there is no other instance that could run its items: this one takes part, and the job pauses"
	jobGoesOn      = "job goes on: its configuration can be used again"
)

// choosy is code that refuses a configuration with a parameter of "new", for a reason of its own process. It takes nine seconds
// to judge one that is described as "slow".
type choosy struct{ job.HandlerFunc }

func (c choosy) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if cfg.Description == "slow" {
		time.Sleep(9 * time.Second)
	}
	if cfg.JobParameter == "new" {
		return nil, errors.New("a secret is missing on this machine")
	}
	return c.HandlerFunc, nil
}

// startChoosy starts an instance whose code is choosy.
func (c *cluster) startChoosy(id string, work job.HandlerFunc, cfg job.Config, opts ...scheduler.Option) *instance {
	c.t.Helper()
	reg := c.server.Open("test")
	s, err := scheduler.New(reg, append(opts, scheduler.WithInstanceID(fullID(id)))...)
	require.NoError(c.t, err)
	require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, choosy{c.record(id, work)})))
	i := c.run(s, reg)
	<-i.Ready()
	return i
}

// with returns a configuration with another parameter.
func with(cfg job.Config, parameter string) job.Config {
	cfg.JobParameter = parameter
	return cfg
}

// A process that cannot use what others can leaves its items to them: every fire runs, once. It comes back when it can.
func TestOneOfThreeRefusesTheConfiguration(t *testing.T) {
	t.Parallel()
	for name, options := range map[string][]scheduler.Option{
		"the leader":                     nil,
		"a follower":                     nil,
		"a follower of its own items":    {scheduler.WithFollowing(scheduler.FollowOwn)},
		"the leader of such followers":   {scheduler.WithFollowing(scheduler.FollowOwn)},
		"the leader, beside Java":        {scheduler.WithJavaPeers()},
		"a follower beside Java":         {scheduler.WithJavaPeers()},
		"the leader, beside ElasticJob3": {scheduler.WithElasticJob3Peers()},
		"a follower beside ElasticJob3":  {scheduler.WithElasticJob3Peers()},
		"with failover of idle items":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				leads := !strings.HasPrefix(name, "a follower")
				java, java3 := strings.Contains(name, "beside Java"), strings.Contains(name, "beside ElasticJob3")
				cfg := jobOf(6)
				if name == "with failover of idle items" {
					cfg.Failover, cfg.FailoverScope = true, job.FailoverAssigned
				}
				if java || java3 {
					cfg = sharedJob(6)
				}
				change, owners, state := c.change, c.owners, c.state
				if java3 {
					change = func(cfg job.Config) {
						text, err := jobtree.ElasticJob3.EncodeConfig(cfg)
						require.NoError(t, err)
						put(t, c.server, "/orders/config", text)
					}
					owners, state = c.owners3, c.state3
				}
				var logs logbook
				var heard pauses
				choosy := func() *instance {
					return c.startChoosy("s", nil, cfg, slices.Concat(options, []scheduler.Option{scheduler.WithLogger(slog.New(&logs)), scheduler.WithObserver(&heard)})...)
				}
				var s *instance
				if leads {
					s = choosy()
				}
				a := c.startWith("a", nil, options, cfg)
				c.startWith("b", nil, options, cfg)
				if !leads {
					s = choosy()
				}
				sleepUntil(7 * time.Second)
				all := map[string]int{fullID("a"): 2, fullID("b"): 2, fullID("s"): 2}
				require.Equal(t, all, owners())
				require.Equal(t, leads, state().Leader.Instance == fullID("s"))
				c.take()

				change(with(cfg, "new"))
				sleepUntil(8 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 3, fullID("b"): 3}, owners())
				require.Contains(t, []string{fullID("a"), fullID("b")}, state().Leader.Instance)
				_, health := s.look(t)
				require.Contains(t, health.Config, "a secret is missing")
				require.True(t, health.LeftToOthers)
				require.False(t, health.Joined)
				calls, why := heard.last()
				require.Equal(t, 1, calls)
				require.ErrorContains(t, why, "a secret is missing")
				sleepUntil(32 * time.Second)
				runs := c.take()
				require.Len(t, runs, 5*6, "every fire of every item, once")
				for _, r := range runs {
					require.NotEqual(t, "s", r.instance)
				}
				_, health = a.look(t)
				require.Empty(t, health.Config)
				require.Equal(t, 2, health.Instances)

				change(with(cfg, "newer"))
				sleepUntil(33 * time.Second)
				require.Equal(t, all, owners())
				_, health = s.look(t)
				require.Empty(t, health.Config)
				require.False(t, health.LeftToOthers)
				require.True(t, health.Joined)
				sleepUntil(61 * time.Second)
				on := make(map[string]int)
				for _, r := range c.take() {
					on[r.instance]++
				}
				require.Equal(t, map[string]int{"a": 12, "b": 12, "s": 12}, on)
				require.Equal(t, 1, logs.of(leftByRefusal))
				require.Equal(t, 1, logs.of(jobGoesOn))
				require.Zero(t, logs.of(aloneByRefusal))
			})
		})
	}
}

// While a process refuses the configuration, others go on by it, and much of what they run leaves no trace. When it can use the
// next one, nothing that others ran, or was no fire of theirs, is run for what it remembers of the time before.
func TestWhatChangesWhileAProcessRefuses(t *testing.T) {
	t.Parallel()
	for name, changes := range map[string][2]func(*job.Config){
		"items go and come back": {
			func(cfg *job.Config) { cfg.ShardingTotalCount = 2 },
			func(cfg *job.Config) { cfg.ShardingTotalCount = 6 },
		},
		"there are no records for a while": {
			func(cfg *job.Config) { cfg.Unmonitored = true },
			func(cfg *job.Config) { cfg.Unmonitored = false },
		},
		"there are no records for a while, and what was missed is made up for hours": {
			func(cfg *job.Config) { cfg.Unmonitored, cfg.MisfireWindow = true, 3*time.Hour },
			func(cfg *job.Config) { cfg.Unmonitored = false },
		},
		"there are other fires for a while, and what was missed is made up for hours": {
			func(cfg *job.Config) { cfg.Cron, cfg.MisfireWindow = "0 0 0 1 1 ?", 3*time.Hour },
			func(cfg *job.Config) { cfg.Cron = everyFive },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(6)
				cfg.Misfire = job.MisfireAll
				c.startChoosy("s", nil, cfg)
				sleepUntil(17 * time.Second)
				c.start("a", nil, cfg) // which has not seen the fires until then
				cfg.JobParameter = "new"
				c.change(cfg)
				time.Sleep(time.Second)
				changes[0](&cfg)
				c.change(cfg)
				time.Sleep(20 * time.Minute) // surplus records are gone by then
				changes[1](&cfg)
				c.change(cfg)
				time.Sleep(time.Second) // there is no fire in between
				before := len(c.all())
				back := time.Now()
				c.change(with(cfg, "newer"))
				time.Sleep(time.Minute)
				require.Equal(t, map[string]int{fullID("a"): 3, fullID("s"): 3}, c.owners())
				for _, r := range c.all()[before:] {
					require.True(t, r.sc.Fire.After(back.Add(-time.Second)), "%s of item %d runs again: %s", r.sc.Fire, r.sc.Item, r.sc.Source)
				}
			})
		})
	}
}

// Others go on by a configuration at once, and not when the code of a process that refused the one before has judged it, too.
func TestWhatChangesWhileCodeThatRefusedIsAsked(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(6)
		cfg.Misfire, cfg.MisfireWindow = job.MisfireAll, 3*time.Hour
		c.startChoosy("s", nil, cfg)
		sleepUntil(17 * time.Second)
		c.start("a", nil, cfg)
		cfg.JobParameter = "new"
		c.change(cfg)
		sleepUntil(22 * time.Second)
		cfg.Description, cfg.Unmonitored = "slow", true
		c.change(cfg)
		sleepUntil(28 * time.Second) // there is no record of a fire that has come
		cfg.JobParameter, cfg.Description, cfg.Unmonitored = "newer", "", false
		c.change(cfg)
		sleepUntil(48 * time.Second)
		type fired struct {
			item int
			fire time.Time
		}
		seen := make(map[fired]bool)
		for _, r := range c.all() {
			f := fired{r.sc.Item, r.sc.Fire}
			require.False(t, seen[f], "%s of item %d runs again: %s", f.fire, f.item, r.sc.Source)
			seen[f] = true
		}
		require.Len(t, seen, 9*6)
	})
}

// What was missed before a process starts is made up, also if it refuses the configuration at first.
func TestAProcessRefusesFromItsStartOn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(2)
		cfg.Misfire, cfg.MisfireWindow = job.MisfireAll, 3*time.Minute
		a := c.start("a", nil, cfg)
		sleepUntil(7 * time.Second)
		a.stop(t)
		require.Len(t, c.take(), 2)
		c.change(with(cfg, "new"))
		sleepUntil(22 * time.Second)
		c.startChoosy("s", nil, cfg)
		sleepUntil(23 * time.Second)
		c.change(with(cfg, "newer"))
		sleepUntil(29 * time.Second)
		var fires []time.Duration
		for _, r := range c.take() {
			if r.sc.Item == 0 {
				fires = append(fires, r.sc.Fire.Sub(bubbleStart))
			}
		}
		require.Equal(t, []time.Duration{10 * time.Second, 15 * time.Second, 20 * time.Second, 25 * time.Second}, fires)
	})
}

// A Java leader does not see why, but that the instance has left: it gives its items to others. Nobody takes it for shut down.
func TestAJavaLeaderGivesNothingToAProcessThatRefuses(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		java := c.javaLeads(javasOwn(2))
		s := c.startChoosy("s", nil, sharedJob(2), scheduler.WithJavaPeers())
		java.reshard(0, fullID("s"), fullID("s"))
		sleepUntil(7 * time.Second)
		require.Len(t, c.take(), 2)
		c.change(with(javasOwn(2), "new"))
		sleepUntil(20 * time.Second)
		require.Len(t, c.state().Instances, 1)
		require.NotZero(t, c.state().Necessary, "the leader is asked to assign the items anew")
		_, health := s.look(t)
		require.True(t, health.LeftToOthers)
		require.False(t, health.ShutDown)
		require.Empty(t, c.take())
		c.change(javasOwn(2))
		sleepUntil(21 * time.Second)
		require.Len(t, c.state().Instances, 2)
		_, health = s.look(t)
		require.True(t, health.Joined)
	})
}

// A fire that comes in the moment of the change is not lost, whoever has the item then and whether or not missed fires are
// made up.
func TestAFireThatComesWhileAProcessStartsToRefuse(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Duration{
		"before":    10*time.Second - time.Millisecond,
		"just then": 10 * time.Second,
		"after":     10*time.Second + time.Millisecond,
	} {
		for _, policy := range []job.MisfirePolicy{job.MisfireOnce, job.MisfireAll} {
			t.Run(name+" "+string(policy), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					cfg := jobOf(4)
					cfg.Misfire = policy
					c.startChoosy("s", nil, cfg)
					c.start("a", nil, cfg)
					sleepUntil(7 * time.Second)
					c.take()
					sleepUntil(at)
					c.change(with(cfg, "new"))
					sleepUntil(14 * time.Second)
					require.Equal(t, map[string]int{fullID("a"): 4}, c.owners())
					require.Len(t, c.take(), 4)
				})
			})
		}
	}
}

// A process whose code is of another type than the stored job joins, as somebody waits for that, and leaves at once: the
// items stay where they are, or come back in time.
func TestAProcessWithCodeOfAnotherTypeJoinsAndLeaves(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(4))
		sleepUntil(5*time.Second - time.Millisecond)
		reg := c.server.Open("test")
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("s")))
		require.NoError(t, err)
		cfg := jobOf(4)
		cfg.Type = job.TypeDataflow
		require.NoError(t, errOf(s.Add(t.Context(), cfg, job.Dataflow[int]{
			Fetch:   func(context.Context, job.ShardingContext) ([]int, error) { return nil, nil },
			Process: func(context.Context, job.ShardingContext, []int) error { return nil },
		})))
		i := c.run(s, reg)
		<-i.Ready()
		sleepUntil(6 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 4}, c.owners())
		require.Len(t, c.take(), 4)
		_, health := i.look(t)
		require.Contains(t, health.Config, "the code is a dataflow")
		require.True(t, health.LeftToOthers)
	})
}

// So it is with a job that is data, from its first moment on.
func TestAProcessRefusesAJobThatIsData(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		handler := func(h job.Handler) []scheduler.Option { return []scheduler.Option{scheduler.WithHandler("orders", h)} }
		c.startWith("a", nil, handler(c.record("a", nil)))
		s := c.startWith("s", nil, handler(choosy{c.record("s", nil)}))
		sleepUntil(time.Second)
		c.change(with(jobOf(6), "new"))
		sleepUntil(2 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 6}, c.owners())
		_, health := s.look(t)
		require.True(t, health.LeftToOthers)
		sleepUntil(11 * time.Second)
		require.Len(t, c.take(), 2*6)
		c.change(jobOf(6))
		sleepUntil(12 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 3, fullID("s"): 3}, c.owners())
	})
}

// What runs when its process starts to refuse the configuration ends where it is.
func TestAProcessThatRefusesInterruptsNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(context.Context, job.ShardingContext) error { time.Sleep(22 * time.Second); return nil }
		c.startChoosy("s", slow, failoverOf(1))
		sleepUntil(6 * time.Second)
		c.start("a", nil, failoverOf(1))
		c.change(with(failoverOf(1), "new"))
		sleepUntil(20 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 1}, c.owners())
		require.Len(t, c.state().Instances, 1)
		require.Empty(t, c.take())
		sleepUntil(50 * time.Second)
		runs := c.take()
		require.Len(t, runs, 1)
		require.Equal(t, "item 0 fire 5s scheduled on s", runs[0].String())
		require.NoError(t, runs[0].cause)
		require.Equal(t, jobtree.Success, c.state().Item(0).Record.Value.Current.Outcome)
		sleepUntil(66 * time.Second)
		require.Equal(t, []string{"item 0 fire 1m5s scheduled on a"}, c.shown())
	})
}

// The only instance of a job stays, and the job pauses. It leaves when another one comes, and is back when that one dies.
func TestTheOnlyInstanceThatRefusesStays(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var logs logbook
		s := c.startChoosy("s", nil, jobOf(2), scheduler.WithLogger(slog.New(&logs)))
		sleepUntil(7 * time.Second)
		c.change(with(jobOf(2), "new"))
		c.take()
		for at := 8 * time.Second; at < 20*time.Second; at += time.Second {
			sleepUntil(at)
			require.Len(t, c.state().Instances, 1)
		}
		_, health := s.look(t)
		require.Contains(t, health.Config, "a secret is missing")
		require.True(t, health.Joined)
		require.False(t, health.LeftToOthers)
		require.Zero(t, logs.of(leftByRefusal))

		a := c.start("a", nil, with(jobOf(2), "new"))
		sleepUntil(21 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 2}, c.owners())
		require.Len(t, c.state().Instances, 1)
		sleepUntil(26 * time.Second)
		require.Len(t, c.take(), 2*2, "the fires of 20 and 25 s")
		a.crash(t)
		sleepUntil(34 * time.Second)
		require.Len(t, c.state().Instances, 1)
		require.Equal(t, 1, logs.of(leftByRefusal))
		require.Equal(t, 1, logs.of(aloneByRefusal))
		c.change(with(jobOf(2), "newer"))
		sleepUntil(41 * time.Second)
		runs := c.take()
		require.Len(t, runs, 2*2, "the fires of 35 and 40 s: nobody was there for those of the pause")
		for _, r := range runs {
			require.Equal(t, "s", r.instance)
		}
	})
}

// If all refuse the configuration, one of them stays, and another one takes its place when it goes. None comes and goes
// beyond that, also if they see each other late. When it can be used again, all are back.
func TestAllInstancesRefuse(t *testing.T) {
	t.Parallel()
	for name, latency := range map[string]time.Duration{"quick": 0, "slow": 200 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var logs logbook
				processes := make(map[string]*instance)
				for _, id := range strings.Split("abcde", "") {
					processes[id] = c.startChoosy(id, nil, jobOf(5), scheduler.WithLogger(slog.New(&logs)))
				}
				sleepUntil(7 * time.Second)
				for _, p := range processes {
					p.registry.SetLatency(latency)
				}
				c.take()
				c.change(with(jobOf(5), "new"))
				one := func(from, to time.Duration) (id string) {
					t.Helper()
					for at := from; at < to; at += time.Second {
						sleepUntil(at)
						there := c.state().Instances
						require.Len(t, there, 1)
						require.Contains(t, []string{"", there[0].ID}, id, "it stays the same one")
						id = there[0].ID
					}
					return strings.TrimPrefix(id, fullID(""))
				}
				stays := one(12*time.Second, 60*time.Second)
				require.LessOrEqual(t, logs.of(leftByRefusal), 5, "each wants to leave once, and one has to stay")
				require.LessOrEqual(t, logs.of(aloneByRefusal), 1)
				left, alone := logs.of(leftByRefusal), logs.of(aloneByRefusal)

				processes[stays].crash(t)
				next := one(72*time.Second, 2*time.Minute)
				require.NotEqual(t, stays, next)
				// As a rule one comes back. All of them may, if they see each other late, and then all but one leave again.
				require.LessOrEqual(t, logs.of(aloneByRefusal)-alone, 4+1)
				require.LessOrEqual(t, logs.of(leftByRefusal)-left, 4)
				require.Empty(t, c.take())

				for _, p := range processes {
					p.registry.SetLatency(0)
				}
				c.change(with(jobOf(5), "newer"))
				sleepUntil(2*time.Minute + 6*time.Second)
				require.Len(t, c.state().Instances, 4)
				require.Len(t, c.owners(), 4)
				require.Len(t, c.take(), 5*2, "the fires of 2 minutes and of 5 seconds later")
			})
		})
	}
}

// What nobody can use is nobody's own fault: all stay. One that is out stays out meanwhile.
func TestAConfigurationThatNobodyCanUseMovesNobody(t *testing.T) {
	t.Parallel()
	for name, useless := range map[string]string{"not allowed": `"misfirePolicy":"each"`, "unreadable": `"misfirePolicy":`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				s := c.startChoosy("s", nil, jobOf(2))
				c.start("a", nil, jobOf(2))
				c.start("b", nil, jobOf(2))
				broken := func(cfg job.Config) {
					put(t, c.server, "/orders/config", strings.Replace(mustEncode(cfg), `"overwrite":false`, `"overwrite":false,`+useless, 1))
				}
				sleepUntil(7 * time.Second)
				broken(with(jobOf(2), "new"))
				sleepUntil(20 * time.Second)
				require.Len(t, c.state().Instances, 3)
				_, health := s.look(t)
				require.NotEmpty(t, health.Config)
				require.False(t, health.LeftToOthers)

				c.change(with(jobOf(2), "new"))
				sleepUntil(22 * time.Second)
				require.Len(t, c.state().Instances, 2)
				broken(jobOf(2))
				sleepUntil(40 * time.Second)
				require.Len(t, c.state().Instances, 2)
				c.change(jobOf(2))
				sleepUntil(42 * time.Second)
				require.Len(t, c.state().Instances, 3)
			})
		})
	}
}

// sleepy is code that takes long to make something of a configuration with a parameter of "new".
type sleepy struct{ job.HandlerFunc }

func (s sleepy) Configure(cfg job.Config) (job.HandlerFunc, error) {
	if cfg.JobParameter == "new" {
		time.Sleep(30 * time.Second)
	}
	return s.HandlerFunc, nil
}

// Code that does not return in time refuses until it has returned.
func TestCodeThatIsSlowToConfigureLeavesTheJobToOthers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		defer sleepUntil(40 * time.Second) // until Configure has returned
		reg := c.server.Open("test")
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("s")))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(2), sleepy{c.record("s", nil)})))
		<-c.run(s, reg).Ready()
		c.start("a", nil, jobOf(2))
		sleepUntil(7 * time.Second)
		c.change(with(jobOf(2), "new"))
		sleepUntil(18 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 2}, c.owners())
		sleepUntil(38 * time.Second)
		require.Len(t, c.owners(), 2)
	})
}

// What is cut short while its process refuses the settings goes by their limit of reruns.
func TestALimitOfRerunsOutlastsARefusal(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int]jobtree.ItemState{1: jobtree.ItemInterrupted, 2: jobtree.ItemWaiting} {
		inBubble(t, func(t *testing.T, c *cluster) {
			long := func(ctx context.Context, _ job.ShardingContext) error { <-ctx.Done(); return ctx.Err() }
			cfg := jobOf(1)
			cfg.Failover, cfg.FailoverLimit = true, limit
			a := c.startChoosy("a", long, cfg)
			sleepUntil(6 * time.Second)
			a.crash(t)
			b := c.startChoosy("b", long, cfg, scheduler.WithStopTimeout(time.Second))
			sleepUntil(20 * time.Second)
			require.Equal(t, 1, c.state().Item(0).Record.Value.Reruns)
			c.change(with(cfg, "new"))
			sleepUntil(21 * time.Second)
			b.stop(t)
			require.Equal(t, want, c.state().Item(0).Record.Value.State, "limit %d", limit)
		})
	}
}
