package scheduler_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

func TestTheTwoKindsOfJavaPeersExcludeEachOther(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	_, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithJavaPeers(), scheduler.WithElasticJob3Peers())
	require.ErrorIs(t, err, scheduler.ErrInvalidOption)
	for _, id := range []string{"host@-@1", "10.0.0.1@-@4711"} {
		_, err = scheduler.New(reg, scheduler.WithInstanceID(id), scheduler.WithElasticJob3Peers())
		require.ErrorIs(t, err, scheduler.ErrInvalidOption, id)
	}
	require.NoError(t, reg.Close(t.Context()))
}

func TestDeclarationsThatElasticJob3CannotRead(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*job.Config){
		"Name":               func(c *job.Config) { c.Name = "orders(eu)" },
		"Class":              func(c *job.Config) { c.Class = "" },
		"ShardingStrategy":   func(c *job.Config) { c.ShardingStrategy = "minimal-movement" },
		"ErrorHandler":       func(c *job.Config) { c.ErrorHandler = "com.acme.Handler" },
		"Cron":               func(c *job.Config) { c.Cron = "*/5 * * * *" },
		"timeZone":           func(c *job.Config) { c.TimeZone = "Europe/Berlin" },
		"Timeout":            func(c *job.Config) { c.Timeout = time.Second },
		"Retries":            func(c *job.Config) { c.Retries = 2 },
		"DaylightSaving":     func(c *job.Config) { c.DaylightSaving = job.DaylightSavingQuartz },
		"Misfire":            func(c *job.Config) { c.Misfire = job.MisfireAll },
		"ShardingTotalCount": func(c *job.Config) { c.ShardingTotalCount = 6000 },
	} {
		reg := memory.NewServer().Open("test")
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithElasticJob3Peers())
		require.NoError(t, err)
		cfg := sharedJob(2)
		change(&cfg)
		_, err = s.Add(t.Context(), cfg, nothing)
		require.ErrorContains(t, err, want)
		_, err = reg.Get(t.Context(), jobtree.For(cfg.Name).Config())
		require.ErrorIs(t, err, registry.ErrNotFound)
		require.NoError(t, reg.Close(t.Context()))
	}
}

// A hook for whole rounds would wait for records of what Java ran.
func TestAWholeRoundListenerBesideJava(t *testing.T) {
	t.Parallel()
	for name, option := range map[string]scheduler.Option{"2.1.5": scheduler.WithJavaPeers(), "3.x": scheduler.WithElasticJob3Peers()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reg := memory.NewServer().Open("test")
			s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), option)
			require.NoError(t, err)
			_, err = s.Add(t.Context(), sharedJob(2), nothing, scheduler.WithWholeRoundListener(job.WholeRoundListener{
				AllCompleted: func(context.Context, job.WholeRound) error { return nil }, CompletedWithin: time.Minute,
			}))
			require.ErrorIs(t, err, scheduler.ErrInvalidOption)
			require.ErrorContains(t, err, "Java")
			require.NoError(t, reg.Close(t.Context()))
		})
	}
}

// A listener of Java's that runs once for a whole round waits for items of ours in vain. We say so once, and leave its
// nodes alone.
func TestAOnceListenerOfElasticJob3(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var logs logbook
		c.startWith("a", nil, []scheduler.Option{scheduler.WithElasticJob3Peers(), scheduler.WithLogger(slog.New(&logs))}, sharedJob(2))
		j := c.elasticJob3Joins(lastJavaID)
		for i := range 3 {
			sleepUntil(time.Duration(10*i+1) * time.Second)
			j.do(registry.Put(orders.ItemStarted(1), ""))
			sleepUntil(time.Duration(10*i+8) * time.Second)
			require.True(t, c.node(orders.ItemStarted(1)).Exists())
			require.False(t, c.node(orders.ItemStarted(0)).Exists())
			j.do(registry.Delete(orders.ItemStarted(1)))
		}
		require.NotEmpty(t, c.take(), "it goes on")
		require.Equal(t, 1, logs.of("a listener of Java instances waits for all items of a round, and does not hear of those that run here: it does not run, and each of their rounds waits for its time limit"))
	})
}

// What an instance of ours writes when it comes first is what one of ElasticJob 3.x would have written.
func TestTheFirstOneBesideElasticJob3(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.startBeside3("a", nil, failingOver(2))
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 2)
		require.Equal(t, "com.acme.Orders", c.node(orders.Root()).Value)
		require.Contains(t, c.node(orders.Config()).Value, "\njobName: orders\n")
		require.Equal(t, "ENABLED", c.node(orders.Server("10.0.0.1")).Value)
		require.Equal(t, "jobInstanceId: 10.0.0.1@-@a\nserverIp: 10.0.0.1\n", c.node(orders.Instance(fullID("a"))).Value)

		ours, err := a.Job("orders")
		require.NoError(t, err)
		stored, _, err := ours.Config()
		require.NoError(t, err)
		require.Empty(t, stored.Differences(failingOver(2)))
		require.NoError(t, ours.Update(t.Context(), func(cfg *job.Config) error { cfg.Description = "now: with one"; return nil }))
		require.Contains(t, c.node(orders.Config()).Value, "\ndescription: 'now: with one'\n")
		require.ErrorContains(t, ours.Update(t.Context(), func(cfg *job.Config) error { cfg.Retries = 1; return nil }), "Retries")
		sleepUntil(11 * time.Second)
		require.Len(t, c.take(), 2, "it goes on")
		require.Equal(t, "com.acme.Orders", c.node(orders.Root()).Value)
	})
}

func TestAServerBesideElasticJob3(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		found    *string
		disabled bool
		want     string
	}{
		"new":                     {nil, false, "ENABLED"},
		"new, of a disabled job":  {nil, true, "DISABLED"},
		"without a word":          {new(""), false, "ENABLED"},
		"disabled by an operator": {new("DISABLED"), false, "DISABLED"},
		"enabled by an operator":  {new("ENABLED"), true, "ENABLED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				if test.found != nil {
					put(t, c.server, orders.Server("10.0.0.1"), *test.found)
				}
				cfg := sharedJob(2)
				cfg.Disabled = test.disabled
				c.startBeside3("a", nil, cfg)
				sleepUntil(6 * time.Second)
				require.Equal(t, test.want, c.node(orders.Server("10.0.0.1")).Value)
				require.Equal(t, test.want == "ENABLED", len(c.take()) == 2)
			})
		})
	}
}

// An instance of ElasticJob 3.x that starts may take servers away on which it saw no instance, also if one joins meanwhile.
func TestAServerThatElasticJob3TookAway(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startBeside3("a", nil, sharedJob(2))
		j := c.elasticJob3Joins(lastJavaID)
		sleepUntil(time.Second)
		j.do(registry.Delete(orders.Server("10.0.0.1")))
		sleepUntil(2 * time.Second)
		require.Equal(t, "ENABLED", c.node(orders.Server("10.0.0.1")).Value)
		j.do(registry.Put(orders.Server("10.0.0.1"), "DISABLED"))
		sleepUntil(3 * time.Second)
		require.Equal(t, "DISABLED", c.node(orders.Server("10.0.0.1")).Value)
		require.NotEqual(t, fullID("a"), c.state3().Leader.Instance, "a disabled one does not lead")
		c.take()
		sleepUntil(6 * time.Second)
		require.Empty(t, c.take())
		j.do(registry.Put(orders.Server("10.0.0.1"), "ENABLED"))
		sleepUntil(9 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 1, lastJavaID: 1}, c.owners3())
	})
}

// Instances that write their nodes in other words are never joined.
func TestTheWrongOptionBesideJavaInstances(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lite   bool // the Java instance is of 2.1.5
		option []scheduler.Option
		want   string
	}{
		"none beside 3.x":  {false, nil, "WithElasticJob3Peers"},
		"2.1.5 beside 3.x": {false, []scheduler.Option{scheduler.WithJavaPeers()}, "WithElasticJob3Peers"},
		"3.x beside 2.1.5": {true, []scheduler.Option{scheduler.WithElasticJob3Peers()}, "WithJavaPeers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				reg := c.server.Open("test")
				defer reg.Close(t.Context())
				early, err := scheduler.New(javaLayout{reg}, append(test.option, scheduler.WithInstanceID(fullID("a")))...)
				require.NoError(t, err)
				require.NoError(t, errOf(early.Add(t.Context(), sharedJob(2), job.HandlerFunc(nothing))))
				if test.lite {
					c.javaJoins(javaID)
				} else {
					c.elasticJob3Joins(javaID)
				}
				err = early.Run(t.Context())
				require.ErrorIs(t, err, scheduler.ErrJavaPeers, "it came before Run")
				require.ErrorContains(t, err, test.want)
				require.False(t, c.node(orders.Instance(fullID("a"))).Exists())

				late, err := scheduler.New(javaLayout{reg}, append(test.option, scheduler.WithInstanceID(fullID("a")))...)
				require.NoError(t, err)
				err = errOf(late.Add(t.Context(), sharedJob(2), job.HandlerFunc(nothing)))
				require.ErrorIs(t, err, scheduler.ErrJavaPeers)
				require.ErrorContains(t, err, javaID)
				require.ErrorContains(t, err, test.want)
			})
		})
	}
}

// An instance of ElasticJob 3.x that stores a job writes its class after its configuration, and may never do so: then we do.
func TestAJobOfElasticJob3WithoutItsClass(t *testing.T) {
	t.Parallel()
	for name, conflict := range map[string]scheduler.Conflict{
		"the registry wins": scheduler.RegistryWins, "the code wins": scheduler.CodeWins, "a conflict is refused": scheduler.RefuseConflict,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				text, err := jobtree.ElasticJob3.EncodeConfig(sharedJob(2))
				require.NoError(t, err)
				c.java().do(registry.Put(orders.Config(), text))
				reg := c.server.Open("test")
				defer reg.Close(t.Context())
				s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithElasticJob3Peers())
				require.NoError(t, err)
				_, err = s.Add(t.Context(), sharedJob(2), job.HandlerFunc(nothing), scheduler.OnConflict(conflict))
				require.NoError(t, err)
				require.Equal(t, text, c.node(orders.Config()).Value)
				require.Equal(t, "com.acme.Orders", c.node(orders.Root()).Value)
			})
		})
	}
}

func TestAConfigurationOfTheOtherKind(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		put(t, c.server, orders.Config(), mustEncode(sharedJob(2)))
		reg := c.server.Open("test")
		defer reg.Close(t.Context())
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithElasticJob3Peers())
		require.NoError(t, err)
		_, err = s.Add(t.Context(), sharedJob(2), job.HandlerFunc(nothing))
		require.ErrorContains(t, err, "must be YAML as ElasticJob 3.x writes it")

		put(t, c.server, orders.Root(), "com.acme.Others")
		remove(t, c.server, orders.Config())
		_, err = s.Add(t.Context(), sharedJob(2), job.HandlerFunc(nothing))
		require.ErrorIs(t, err, scheduler.ErrClassConflict)
	})
}

func TestItemsThatALeaderOfElasticJob3Assigned(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.elasticJob3Leads(sharedJob(3))
		c.startBeside3("a", nil, sharedJob(3))
		require.NotZero(t, c.state3().Necessary)
		sleepUntil(6 * time.Second)
		require.Empty(t, c.take(), "it has not assigned yet")
		j.reshard(0, fullID("a"), javaID, fullID("a"))
		sleepUntil(7 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s scheduled on a", "item 2 fire 5s scheduled on a"}, c.shown(), "nobody ran it before")
	})
}

func TestElasticJob3GetsItsItems(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startBeside3("a", lasting(time.Second), sharedJob(4))
		sleepUntil(time.Second)
		j := c.elasticJob3Joins(javaID)
		sleepUntil(2 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 2, javaID: 2}, c.owners3())
		s := c.state3()
		require.Zero(t, s.Necessary)
		require.Equal(t, javaID, s.Owner(0), "the descending order of Java")
		sleepUntil(5500 * time.Millisecond)
		mark := c.node(orders.ItemRunning(2))
		require.Equal(t, fullID("a"), mark.Value)
		require.True(t, mark.Ephemeral(), "without failover nobody needs it later")
		j.begin(0, false)
		j.leave()
		j.end(0)
		sleepUntil(8 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 4}, c.owners3())
	})
}

// With failover on the marks of both outlive their instances, and ours are taken away by their ends.
func TestMarksBesideElasticJob3(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.startBeside3("a", lasting(3*time.Second), failingOver(1))
		sleepUntil(6 * time.Second)
		mark := c.node(orders.ItemRunning(0))
		require.Equal(t, fullID("a"), mark.Value)
		require.False(t, mark.Ephemeral())
		sleepUntil(9 * time.Second)
		requireNoMarks(t, c, 0)
		require.Equal(t, jobtree.Success, c.state3().Item(0).Record.Value.Current.Outcome)

		// One that ends after its session was lost takes its mark along, too.
		sleepUntil(11 * time.Second)
		c.take()
		a.registry.Expire()
		sleepUntil(14500 * time.Millisecond)
		requireNoMarks(t, c, 0)
		sleepUntil(59 * time.Second)
		for _, r := range c.take() {
			require.NotEqual(t, job.Failover, r.sc.Source, "%s", r)
		}
		require.Equal(t, jobtree.ItemIdle, c.state3().Item(0).Record.Value.State)
	})
}

// What an instance of ElasticJob 3.x was running when it crashed is run again, and nothing else is.
func TestAnInstanceOfElasticJob3Crashes(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"while we are there": true, "before we came": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := failingSlowly(4)
				if before {
					c.startBeside3("a", nil, cfg)
				}
				sleepUntil(time.Second)
				j := c.elasticJob3(javaID)
				if !before {
					j.store(cfg)
				}
				j.join()
				sleepUntil(12 * time.Second)
				c.take()
				j.begin(0, true)
				j.begin(1, true)
				j.end(1)
				j.vanish()
				sleepUntil(30 * time.Second)
				if !before {
					require.True(t, c.node(orders.ItemRunning(0)).Exists())
					c.startBeside3("a", nil, cfg)
				}
				sleepUntil(waitOut)
				fire := "10s"
				if !before {
					fire = "by hand" // none: nobody here knows since when it has been lost
				}
				require.Equal(t, []string{"item 0 fire " + fire + " failover on a"}, c.reruns())
				requireNoMarks(t, c, 0)
				sleepUntil(waitOut + 12*time.Second)
				require.Len(t, c.take(), 4, "they are all ours now")
			})
		})
	}
}

// Another instance of ElasticJob 3.x that sees the crash asks for a claimant, claims itself and runs the item.
func TestElasticJob3TakesOverWhatItLost(t *testing.T) {
	t.Parallel()
	for name, deed := range map[string]func(j *elasticJob3){
		"at once": func(j *elasticJob3) { j.flag(0); j.claim() },
		"in two steps": func(j *elasticJob3) {
			j.flag(0)
			time.Sleep(300 * time.Millisecond)
			j.claim()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.startBeside3("a", nil, failingSlowly(4))
				other := c.elasticJob3Joins(secondJavaID)
				j := c.elasticJob3Joins(javaID)
				sleepUntil(12 * time.Second)
				c.take()
				j.begin(0, true)
				j.do(registry.Delete(orders.Instance(javaID))) // its session ends
				deed(other)
				other.begin(0, true)
				sleepUntil(20 * time.Second)
				other.endClaimed(0)
				sleepUntil(waitOut)
				require.Empty(t, c.reruns())
				requireNoMarks(t, c, 0)
			})
		})
	}
}

// One that asks for a claimant and then does not come, as it is busy, leaves the item to us.
func TestElasticJob3AsksForAClaimant(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startBeside3("a", nil, failingSlowly(4))
		other := c.elasticJob3Joins(secondJavaID)
		j := c.elasticJob3Joins(javaID)
		sleepUntil(12 * time.Second)
		c.take()
		j.begin(0, true)
		j.do(registry.Delete(orders.Instance(javaID)))
		other.flag(0)
		sleepUntil(waitOut)
		require.Equal(t, []string{"item 0 fire 10s failover on a"}, c.reruns())
		requireNoMarks(t, c, 0)
	})
}

// A process that starts again under the same id, as in a container, says nothing of what the one before it ran, which it would
// pass over in each of its rounds. Who has not seen the first one waits longer.
func TestAnInstanceOfElasticJob3StartsAgainUnderItsID(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, expired, claimed bool
	}{
		"while we are there":                       {true, false, false},
		"when its session is over":                 {true, true, false},
		"before we came":                           {false, false, false},
		"while we are there, as it ran by a claim": {true, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := failingSlowly(1)
				if test.before {
					c.startBeside3("a", nil, cfg)
				}
				sleepUntil(time.Second)
				j := c.elasticJob3(javaID)
				if !test.before {
					j.store(cfg)
				}
				j.join()
				sleepUntil(12 * time.Second)
				c.take()
				if test.claimed {
					j.claim()
				}
				j.begin(0, true)
				time.Sleep(500 * time.Millisecond)
				again := c.elasticJob3(javaID)
				if test.expired {
					j.registry.Expire()
					time.Sleep(400 * time.Millisecond)
				} else {
					j.vanish()
					time.Sleep(2 * time.Second)
					again.do(registry.Delete(orders.Instance(javaID)))
				}
				again.join()
				if sleepUntil(20 * time.Second); !test.before {
					require.True(t, c.node(orders.ItemRunning(0)).Exists())
					c.startBeside3("a", nil, cfg)
				}
				sleepUntil(waitOut)
				require.Len(t, c.reruns(), 1)
				requireNoMarks(t, c, 0)
			})
		})
	}
}

// One that comes back in another session takes its marks away one after the other, and over a slow store that takes its time.
func TestAnInstanceOfElasticJob3ThatClearsItsMarksSlowly(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startBeside3("a", nil, failingSlowly(6))
		sleepUntil(time.Second)
		j := c.elasticJob3Joins(javaID)
		sleepUntil(12 * time.Second)
		c.take()
		for item := range 6 {
			j.begin(item, true)
		}
		time.Sleep(500 * time.Millisecond)
		j.vanish()
		again := c.elasticJob3(javaID)
		again.do(registry.Delete(orders.Instance(javaID)))
		again.join()
		for item := range 6 {
			time.Sleep(900 * time.Millisecond)
			again.end(item)
		}
		sleepUntil(waitOut)
		require.Empty(t, c.reruns())
	})
}

// What may run on although its mark is older than its instance is not run beside it: it was left as the server was disabled,
// and we have seen neither session. That the server is enabled again tells nothing new.
func TestAMarkThatPerhapsRunsOn(t *testing.T) {
	t.Parallel()
	for name, enabled := range map[string]bool{"and its server stays disabled": false, "and its server is enabled again": true} {
		for _, owner := range []string{javaID, fullID("a")} {
			t.Run(name+", owned by "+owner, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					cfg := failingSlowly(1)
					j := c.elasticJob3(javaID)
					j.store(cfg)
					j.join()
					j.begin(0, true)
					server := registry.Put(orders.Server(jobtree.ServerOf(javaID)), "DISABLED")
					j.do(registry.Put(orders.ItemInstance(0), owner), registry.Delete(orders.Instance(javaID)), server)
					j.do(registry.PutOwned(orders.Instance(javaID), jobtree.ElasticJob3.EncodeInstance(javaID), j.session))
					c.startBeside3("a", nil, cfg)
					sleepUntil(30 * time.Second)
					if enabled {
						j.do(registry.Put(orders.Server(jobtree.ServerOf(javaID)), "ENABLED"))
					}
					before := c.server.Stats().Transactions
					sleepUntil(5 * time.Minute)
					require.Empty(t, c.take())
					require.Less(t, c.server.Stats().Transactions-before, 60, "nobody asks for it again and again")
					require.True(t, c.node(orders.ItemRunning(0)).Exists())
					j.vanish()
					sleepUntil(7 * time.Minute)
					require.NotEmpty(t, c.reruns(), "its session is over")
				})
			})
		}
	}
}

// A process that connects again under its session makes its node anew, and runs on: also if its server is disabled, when it
// leaves its marks, and if it runs what it has claimed.
func TestAnInstanceOfElasticJob3RunsOnAsItReconnects(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		disabled, claimed, late bool
	}{
		"its server is disabled":                 {true, false, false},
		"its server is disabled as we come":      {true, false, true},
		"it has claimed the item":                {false, true, false},
		"it has claimed the item before we come": {false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := failingSlowly(1)
				start := func() { c.startBeside3("a", nil, cfg) }
				j := c.elasticJob3(javaID)
				if test.late {
					j.store(cfg)
				} else {
					start()
				}
				sleepUntil(time.Second)
				j.join()
				sleepUntil(12 * time.Second)
				c.take()
				if test.claimed {
					j.claim()
				}
				j.begin(0, true)
				time.Sleep(500 * time.Millisecond)
				for range 2 {
					j.do(registry.Delete(orders.Instance(javaID)))
					time.Sleep(200 * time.Millisecond)
					j.join()
					time.Sleep(3 * time.Second)
				}
				if test.disabled {
					j.do(registry.Put(orders.Server(jobtree.ServerOf(javaID)), "DISABLED"))
				}
				if test.late {
					start()
				}
				sleepUntil(waitOut)
				require.Empty(t, c.reruns())
				require.True(t, c.node(orders.ItemRunning(0)).Exists())
				j.endClaimed(0)
				sleepUntil(waitOut + 12*time.Second)
				require.Empty(t, c.reruns())
				requireNoMarks(t, c, 0)
			})
		})
	}
}

// One that reconnects, or is shut down and ends its work, has not crashed.
func TestAnInstanceOfElasticJob3ThatDidNotCrash(t *testing.T) {
	t.Parallel()
	for name, deed := range map[string]func(j *elasticJob3){
		"reconnects": func(j *elasticJob3) {
			j.do(registry.Delete(orders.Instance(javaID)))
			time.Sleep(300 * time.Millisecond)
			j.join()
			j.end(0)
		},
		"leaves": func(j *elasticJob3) {
			j.end(0)
			j.leave()
		},
		"is shut down": func(j *elasticJob3) {
			j.leave()
			time.Sleep(800 * time.Millisecond)
			j.end(0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.startBeside3("a", nil, failingSlowly(4))
				sleepUntil(time.Second)
				j := c.elasticJob3Joins(javaID)
				sleepUntil(12 * time.Second)
				j.begin(0, true)
				deed(j)
				sleepUntil(waitOut)
				require.Empty(t, c.reruns())
				requireNoMarks(t, c, 0)
			})
		})
	}
}

// With failover off again, what a crashed one left is only in the way.
func TestRemainsThatNobodyIsToRunAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.elasticJob3(javaID)
		j.store(sharedJob(1))
		j.do(registry.Put(orders.ItemRunning(0), javaID))
		c.startBeside3("a", nil, sharedJob(1))
		sleepUntil(11 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s scheduled on a", "item 0 fire 10s scheduled on a"}, c.shown())
	})
}

// What we were running when we crashed can be seen by ElasticJob 3.x, and by others of ours.
func TestWeCrashBesideElasticJob3(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		b := c.startBeside3("b", stuckUntilCancelled, failingSlowly(1))
		sleepUntil(12 * time.Second)
		b.crash(t)
		sleepUntil(30 * time.Second)
		mark := c.node(orders.ItemRunning(0))
		require.Equal(t, fullID("b"), mark.Value)
		require.False(t, c.node(orders.Instance(fullID("b"))).Exists())
		c.take()
		c.startBeside3("a", nil, failingSlowly(1))
		sleepUntil(waitOut)
		require.Equal(t, []string{"item 0 fire 10s failover on a"}, c.reruns())
		requireNoMarks(t, c, 0)
	})
}

// Whoever claims first what we lost runs it again, and nobody else does: an instance of ElasticJob 3.x that sees the
// crash, or the others of ours.
func TestOneTakesOurLostExecutionOver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after  time.Duration // that the instance has gone
		theirs bool
	}{
		"theirs, at once":  {0, true},
		"theirs, in time":  {900 * time.Millisecond, true},
		"ours, after them": {5 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.startBeside3("a", nil, failingSlowly(2))
				b := c.startBeside3("b", stuck, failingSlowly(2))
				sleepUntil(12 * time.Second)
				j := c.elasticJob3Joins(lastJavaID)
				item := 0
				if c.state3().Item(1).Running.Value == fullID("b") {
					item = 1
				}
				require.Equal(t, fullID("b"), c.state3().Item(item).Running.Value)
				c.take()
				b.crash(t)
				for c.node(orders.Instance(fullID("b"))).Exists() {
					time.Sleep(time.Millisecond)
				}
				time.Sleep(test.after)
				if c.node(orders.ItemRunning(item)).Exists() { // else there is nothing to ask for
					j.flag(item)
				}
				claimed := j.claimIfWanted(item)
				require.Equal(t, test.theirs, claimed)
				if claimed {
					j.begin(item, true)
				}
				sleepUntil(50 * time.Second)
				if claimed {
					require.Equal(t, jobtree.ItemInterrupted, c.state3().Item(item).Record.Value.State, "as ours it is over")
					j.endClaimed(item)
				}
				sleepUntil(waitOut)
				require.Equal(t, !claimed, len(c.reruns()) == 1)
				requireNoMarks(t, c, item)
			})
		})
	}
}

// A process that comes back after its session, and finds that an instance of ElasticJob 3.x has claimed what it was
// running, leaves that to it: nobody of ours was there to record the claim.
func TestWhatElasticJob3RunsAgainWhileWeAreCutOff(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.startBeside3("a", stuckUntilCancelled, failingSlowly(1))
		sleepUntil(12 * time.Second)
		j := c.elasticJob3Joins(lastJavaID)
		c.take()
		a.registry.Cut()
		for c.node(orders.Instance(fullID("a"))).Exists() {
			time.Sleep(time.Millisecond)
		}
		j.flag(0)
		require.True(t, j.claimIfWanted(0))
		j.begin(0, true)
		a.registry.Heal()
		sleepUntil(40 * time.Second)
		record := c.state3().Item(0).Record.Value
		require.Equal(t, jobtree.ItemInterrupted, record.State)
		require.Equal(t, int64(1), record.Counts.Lost)
		require.Equal(t, j.id, c.node(orders.ItemRunning(0)).Value)
		j.endClaimed(0)
		sleepUntil(waitOut)
		require.Empty(t, c.reruns())
		requireNoMarks(t, c, 0)
	})
}

// What ElasticJob 3.x has run again is not run once more, though its claim has come and gone while a commit of ours was under
// way.
func TestWhatElasticJob3RunsAgainInAMoment(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.startBeside3("a", nil, failingSlowly(3))
		b := c.startBeside3("b", stuckUntilCancelled, failingSlowly(3))
		j := c.elasticJob3Joins(lastJavaID)
		sleepUntil(12 * time.Second)
		c.take()
		item := slices.IndexFunc([]int{0, 1, 2}, func(n int) bool { return c.node(orders.ItemRunning(n)).Value == fullID("b") })
		require.GreaterOrEqual(t, item, 0)
		b.crash(t)
		for c.node(orders.Instance(fullID("b"))).Exists() {
			time.Sleep(time.Millisecond)
		}
		a.registry.SetLatency(2 * time.Second) // it gives the items of b to others
		time.Sleep(100 * time.Millisecond)
		j.flag(item)
		require.True(t, j.claimIfWanted(item))
		j.begin(item, true)
		j.endClaimed(item)
		time.Sleep(time.Second)
		a.registry.SetLatency(0)
		sleepUntil(waitOut)
		require.Empty(t, c.reruns())
		record := c.state3().Item(item).Record.Value
		require.Equal(t, int64(1), record.Counts.Lost)
		requireNoMarks(t, c, item)
	})
}

// Likewise of what was itself run again: when the process is back, its view may still show the claim that it had.
func TestWhatElasticJob3RunsAgainOfARerun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		stuck := func(ctx context.Context, _ job.ShardingContext) error {
			<-ctx.Done()
			return ctx.Err()
		}
		b := c.startBeside3("b", stuck, failingSlowly(1))
		sleepUntil(12 * time.Second)
		b.crash(t)
		sleepUntil(30 * time.Second)
		a := c.startBeside3("a", stuck, failingSlowly(1))
		sleepUntil(45 * time.Second)
		require.Equal(t, fullID("a"), c.node(orders.ItemFailover(0)).Value)
		j := c.elasticJob3Joins(lastJavaID)
		a.registry.Cut()
		for c.node(orders.Instance(fullID("a"))).Exists() || c.node(orders.ItemFailover(0)).Exists() {
			time.Sleep(time.Millisecond)
		}
		j.flag(0)
		require.True(t, j.claimIfWanted(0))
		j.begin(0, true)
		a.registry.Heal()
		time.Sleep(15 * time.Second)
		require.Equal(t, jobtree.ItemInterrupted, c.state3().Item(0).Record.Value.State)
		j.endClaimed(0)
		requireNoMarks(t, c, 0)
	})
}

// The console of ElasticJob 3.x asks each instance by a node of its own.
func TestTheConsoleOfElasticJob3Triggers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := sharedJob(4)
		cfg.Cron = "0 0 0 1 7 ?"
		a := c.startBeside3("a", nil, cfg)
		j := c.elasticJob3Joins(javaID)
		sleepUntil(time.Second)
		require.Equal(t, map[string]int{fullID("a"): 2, javaID: 2}, c.owners3())
		for range 2 {
			j.do(registry.Put(orders.InstanceTrigger(fullID("a")), ""))
			time.Sleep(time.Second)
			require.Equal(t, []string{"item 2 fire by hand manual on a", "item 3 fire by hand manual on a"}, c.shown())
			require.False(t, c.node(orders.InstanceTrigger(fullID("a"))).Exists())
		}
		ours, err := a.Job("orders")
		require.NoError(t, err)
		_, err = ours.Trigger(t.Context())
		require.NoError(t, err)
		time.Sleep(time.Second)
		require.Len(t, c.take(), 2)
		require.True(t, c.node(orders.InstanceTrigger(javaID)).Exists(), "it is asked as it wants to be")
		require.Equal(t, jobtree.ElasticJob3.EncodeInstance(javaID), c.node(orders.Instance(javaID)).Value)
	})
}

func TestTheConsoleOfElasticJob3ShutsDown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.startBeside3("a", nil, sharedJob(2))
		c.startBeside3("b", nil, sharedJob(2))
		sleepUntil(6 * time.Second)
		c.elasticJob3(javaID).do(registry.Delete(orders.Instance(fullID("a"))))
		sleepUntil(9 * time.Second)
		c.take()
		sleepUntil(11 * time.Second)
		require.Equal(t, map[string]int{fullID("b"): 2}, c.owners3())
		require.Len(t, c.take(), 2)
		a.stop(t)
	})
}

// Only leaders of ElasticJob 3.x ask for a resharding. Who is the leader when its own server is disabled, or its node
// taken away, asks for the one that follows.
func TestALeaderThatResignsBesideElasticJob3(t *testing.T) {
	t.Parallel()
	for name, deed := range map[string]registry.Write{
		"disabled":  registry.Put(orders.Server("10.0.0.1"), "DISABLED"),
		"shut down": registry.Delete(orders.Instance(fullID("a"))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.startBeside3("a", nil, sharedJob(2))
				sleepUntil(time.Second)
				j := c.elasticJob3Joins(javaID)
				sleepUntil(2 * time.Second)
				require.Equal(t, map[string]int{fullID("a"): 1, javaID: 1}, c.owners3())
				j.do(deed)
				sleepUntil(4 * time.Second)
				require.Zero(t, c.state3().Leader.Created)
				require.NotZero(t, c.state3().Necessary)
			})
		})
	}
}

// What a Java instance has claimed is off its owner's rounds until that run has ended, as it is among Java instances: the
// claimant runs nothing else before, and passes over each fire at which the item runs already.
func TestAnOwnerLeavesAloneWhatElasticJob3HasClaimed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startBeside3("a", nil, failingOver(2))
		j := c.elasticJob3Joins(lastJavaID)
		sleepUntil(6 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 1, lastJavaID: 1}, c.owners3())
		require.Len(t, c.take(), 1)
		const item = 0
		require.Equal(t, fullID("a"), c.state3().Owner(item))
		j.do(
			registry.PutOwned(orders.ItemFailover(item), lastJavaID, j.session), registry.Put(orders.ItemFailovering(item), lastJavaID),
		)
		sleepUntil(16 * time.Second)
		require.Empty(t, c.take(), "its fires wait")
		j.begin(item, true)
		sleepUntil(18 * time.Second)
		j.endClaimed(item)
		sleepUntil(19 * time.Second)
		runs := c.take()
		require.Len(t, runs, 1)
		require.Equal(t, job.Misfire, runs[0].sc.Source)
		sleepUntil(21 * time.Second)
		require.Len(t, c.take(), 1, "it goes on")

		j.do(registry.PutOwned(orders.ItemFailover(item), lastJavaID, j.session))
		j.vanish()
		sleepUntil(time.Minute)
		require.NotEmpty(t, c.take(), "a claimant that is gone is in nobody's way")
	})
}

// With static sharding, who is there at the first fire shares the items, and afterwards nothing moves, whoever comes or
// goes, until their number changes or somebody asks for a resharding. Who comes back under its id has its items again.
func TestStaticShardingBesideElasticJob3(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := sharedJob(4)
		cfg.Unknown = `"elasticJob3":"staticSharding: true\n"`
		stays := func(owners map[string]int, until time.Duration) {
			t.Helper()
			sleepUntil(until)
			require.Equal(t, owners, c.owners3())
			require.Zero(t, c.state3().Necessary)
		}
		a := c.startBeside3("a", nil, cfg)
		require.Contains(t, c.node(orders.Config()).Value, "\nstaticSharding: true\n")
		sleepUntil(time.Second)
		j := c.elasticJob3Joins(javaID)
		stays(map[string]int{fullID("a"): 2, javaID: 2}, 6*time.Second)
		require.Len(t, c.take(), 2)

		last := c.elasticJob3Joins(lastJavaID)
		stays(map[string]int{fullID("a"): 2, javaID: 2}, 11*time.Second)
		require.Len(t, c.take(), 2)
		j.leave()
		b := c.startBeside3("b", nil, cfg)
		stays(map[string]int{fullID("a"): 2, javaID: 2}, 21*time.Second)
		require.Len(t, c.take(), 4, "it goes on, and nobody has the items of who is gone")
		last.do(registry.Put(orders.InstanceTrigger(fullID("a")), ""))
		sleepUntil(22 * time.Second)
		require.Len(t, c.take(), 2)
		require.False(t, c.node(orders.InstanceTrigger(fullID("a"))).Exists(), "it is answered all the same")

		ours, err := a.Job("orders")
		require.NoError(t, err)
		require.NoError(t, ours.Update(t.Context(), func(cfg *job.Config) error { cfg.ShardingTotalCount = 6; return nil }))
		spread := map[string]int{fullID("a"): 2, fullID("b"): 2, lastJavaID: 2}
		stays(spread, 26*time.Second)
		b.stop(t)
		stays(spread, 31*time.Second)
		c.take()
		sleepUntil(36 * time.Second)
		require.Len(t, c.take(), 2)
		cfg.ShardingTotalCount = 6
		b = c.startBeside3("b", nil, cfg)
		stays(spread, 41*time.Second)
		require.Len(t, c.take(), 4, "it has its items again")

		a.stop(t) // which led
		stays(spread, 46*time.Second)
		require.Equal(t, fullID("b"), c.state3().Leader.Instance)
		c.take()
		last.ask()
		stays(map[string]int{fullID("b"): 3, lastJavaID: 3}, 51*time.Second)
		b.stop(t)
	})
}

// Beside a Java leader, who comes and goes asks for nothing, and nobody reminds the leader of it.
func TestStaticShardingUnderALeaderOfElasticJob3(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := sharedJob(2)
		cfg.Unknown = `"elasticJob3":"staticSharding: true\n"`
		j := c.elasticJob3Leads(cfg)
		a := c.startBeside3("a", nil, cfg)
		sleepUntil(time.Second)
		require.NotZero(t, c.state3().Necessary, "nothing is assigned yet")
		j.do(registry.Put(orders.ItemInstance(0), javaID), registry.Put(orders.ItemInstance(1), fullID("a")), registry.Delete(orders.Necessary()))
		b := c.startBeside3("b", nil, cfg)
		sleepUntil(11 * time.Second)
		require.Zero(t, c.state3().Necessary)
		require.Equal(t, map[string]int{fullID("a"): 1, javaID: 1}, c.owners3())
		require.Len(t, c.take(), 2)
		a.stop(t)
		sleepUntil(21 * time.Second)
		require.Zero(t, c.state3().Necessary)
		require.Equal(t, map[string]int{fullID("a"): 1, javaID: 1}, c.owners3())
		b.stop(t)
	})
}

// One that stops, or leaves the job, while items run that failover is on for stays until they have ended: their marks
// outlive it, so everybody would take them for lost. Somebody else leads meanwhile, and nothing is run again.
func TestALeaveBesideElasticJob3WaitsForWhatRuns(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, a *instance){
		"a stop": func(_ *testing.T, a *instance) { a.cancel() },
		"a leave": func(t *testing.T, a *instance) {
			ours, err := a.Job("orders")
			require.NoError(t, err)
			go func() { assert.NoError(t, ours.Leave(t.Context())) }()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := failingSlowly(4)
				a := c.startBeside3("a", lasting(15*time.Second), cfg)
				c.startBeside3("b", nil, cfg)
				sleepUntil(12 * time.Second)
				require.Equal(t, fullID("a"), c.state3().Leader.Instance)
				c.take()
				leave(t, a)
				sleepUntil(24 * time.Second)
				s := c.state3()
				require.NotZero(t, s.Instance(fullID("a")).Created, "what it runs would be lost")
				require.Equal(t, fullID("b"), s.Leader.Instance)
				require.Empty(t, c.take(), "nobody runs it again")
				sleepUntil(28 * time.Second)
				require.Equal(t, []string{"item 2 fire 10s scheduled on a", "item 3 fire 10s scheduled on a"}, c.shown())
				s = c.state3()
				require.Zero(t, s.Instance(fullID("a")).Created)
				for n := range 4 {
					require.Equal(t, jobtree.Success, s.Item(n).Record.Value.Current.Outcome)
					requireNoMarks(t, c, n)
				}
				require.Equal(t, map[string]int{fullID("b"): 4}, c.owners3())
				sleepUntil(waitOut)
				require.Empty(t, c.take())
				sleepUntil(waitOut + 12*time.Second)
				require.Len(t, c.take(), 4)
			})
		})
	}
}

// What is due of its other items meanwhile is made up by those who get them, once.
func TestFiresWhileALeaveBesideElasticJob3Waits(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := failingOver(4)
		cfg.Misfire = job.MisfireOnce
		work := func(_ context.Context, sc job.ShardingContext) error {
			if sc.Item == 2 {
				time.Sleep(13 * time.Second)
			}
			return nil
		}
		a := c.startBeside3("a", work, cfg)
		c.startBeside3("b", nil, cfg)
		sleepUntil(6 * time.Second)
		require.Equal(t, fullID("a"), c.state3().Owner(2))
		c.take()
		a.cancel()
		sleepUntil(17 * time.Second)
		require.Equal(t, []string{
			"item 0 fire 10s scheduled on b", "item 0 fire 15s scheduled on b", "item 1 fire 10s scheduled on b", "item 1 fire 15s scheduled on b",
		}, c.shown())
		sleepUntil(24 * time.Second)
		require.Equal(t, []string{
			"item 0 fire 20s scheduled on b", "item 1 fire 20s scheduled on b", "item 2 fire 5s scheduled on a",
			"item 2 fire 15s misfire on b", "item 2 fire 20s scheduled on b", "item 3 fire 15s misfire on b", "item 3 fire 20s scheduled on b",
		}, c.shown())
	})
}

// One that has to end before what it runs has ended says so of that, and it is run again as something interrupted: once.
func TestAnEndThatIsCutShortBesideElasticJob3(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, a *instance){
		"stopped now":                 func(_ *testing.T, a *instance) { a.StopNow() },
		"the stop takes too long":     func(_ *testing.T, a *instance) { a.cancel() },
		"killed while it waits":       func(t *testing.T, a *instance) { a.cancel(); time.Sleep(time.Second); a.crash(t) },
		"its session ends meanwhile":  func(_ *testing.T, a *instance) { a.cancel(); time.Sleep(time.Second); a.registry.Expire() },
		"its code does not even hear": nil,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				work := stuckUntilCancelled
				deaf := end == nil
				if deaf {
					work = func(_ context.Context, _ job.ShardingContext) error { time.Sleep(time.Hour); return nil }
				}
				a := c.startBeside3("a", work, failingSlowly(1))
				sleepUntil(12 * time.Second)
				c.startBeside3("b", nil, failingSlowly(1))
				if deaf {
					a.StopNow()
					require.ErrorContains(t, a.ended(), "items [0] did not return")
				} else {
					end(t, a)
				}
				sleepUntil(waitOut)
				require.Equal(t, []string{"item 0 fire 10s failover on b"}, c.reruns())
				requireNoMarks(t, c, 0)
				require.Zero(t, c.state3().Instance(fullID("a")).Created)
				time.Sleep(time.Hour)
			})
		})
	}
}

// Without failover a mark goes with its instance or with its execution, so nothing keeps one that stops.
func TestAStopBesideElasticJob3WithoutFailover(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := sharedJob(2)
		a := c.startBeside3("a", lasting(9*time.Second), cfg)
		c.startBeside3("b", nil, cfg)
		sleepUntil(6 * time.Second)
		a.cancel()
		sleepUntil(7 * time.Second)
		require.Zero(t, c.state3().Instance(fullID("a")).Created)
		require.True(t, c.state3().Item(1).Running.Exists())
		sleepUntil(21 * time.Second)
		require.Empty(t, c.reruns())
	})
}

// An instance whose clock is wrong stays for what runs here, too. It leads no more and begins nothing, and streams end.
func TestAWrongClockBesideElasticJob3(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := failingSlowly(2)
		s, set := c.startSkewed("a", lasting(40*time.Second), cfg, scheduler.WithElasticJob3Peers())
		c.startBeside3("b", nil, cfg)
		sleepUntil(12 * time.Second)
		require.Equal(t, fullID("a"), c.state3().Leader.Instance)
		c.take()
		set(50 * time.Second)
		sleepUntil(48 * time.Second)
		require.NotZero(t, c.state3().Instance(fullID("a")).Created)
		require.Equal(t, fullID("b"), c.state3().Leader.Instance)
		_, health := s.look(t)
		require.Contains(t, health.Clock, "stays out of the job")
		sleepUntil(waitOut)
		require.Equal(t, []string{"item 1 fire 10s scheduled on a"}, c.shown())
		require.Equal(t, map[string]int{fullID("b"): 2}, c.owners3())
	})
}

// Code that goes on until it is asked to come to an end, such as a stream, does not keep such an instance for ever.
func TestAStreamOfAWrongClockBesideElasticJob3(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := failingSlowly(2)
		endless := func(ctx context.Context, _ job.ShardingContext) error { <-job.Yield(ctx); return nil }
		_, set := c.startSkewed("a", endless, cfg, scheduler.WithElasticJob3Peers())
		c.startBeside3("b", nil, cfg)
		sleepUntil(12 * time.Second)
		require.Equal(t, fullID("a"), c.state3().Item(1).Running.Value)
		c.take()
		set(50 * time.Second)
		sleepUntil(50 * time.Second)
		require.Equal(t, []string{"item 1 fire 10s scheduled on a"}, c.shown())
		require.Equal(t, map[string]int{fullID("b"): 2}, c.owners3())
	})
}

// What the console shuts down goes on to its end, and if that comes within a second it is not lost.
func TestTheConsoleOfElasticJob3ShutsABusyInstanceDown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lasts  time.Duration
		reruns []string
	}{
		"it ends within the second": {2500 * time.Millisecond, nil},
		"it runs on":                {9 * time.Second, []string{"item 1 fire 10s failover on b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.startBeside3("b", nil, failingSlowly(2)) // which leads
				a := c.startBeside3("a", lasting(test.lasts), failingSlowly(2))
				sleepUntil(12 * time.Second)
				require.Equal(t, fullID("a"), c.state3().Item(1).Running.Value)
				c.take()
				c.elasticJob3(javaID).do(registry.Delete(orders.Instance(fullID("a"))))
				sleepUntil(waitOut)
				require.Equal(t, test.reruns, c.reruns())
				requireNoMarks(t, c, 1)
				a.stop(t)
			})
		})
	}
}

// Nothing is left of a job that the console removes while we run it: its own node, made anew and empty, would keep each
// instance of ElasticJob 3.x from starting the job. If it is stored again meanwhile, nobody begins what still runs.
func TestTheConsoleOfElasticJob3RemovesAJobThatRuns(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]bool{"for good": false, "it is stored again": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := failingOver(2)
				a := c.startBeside3("a", lasting(20*time.Second), cfg)
				sleepUntil(6 * time.Second)
				c.removeJob("orders")
				sleepUntil(8 * time.Second)
				require.Empty(t, c.nodes("/orders"))
				if again {
					c.elasticJob3(javaID).store(cfg)
					c.startBeside3("b", nil, cfg)
					sleepUntil(24 * time.Second)
					require.Empty(t, c.take(), "nothing begins while the former executions run")
				}
				sleepUntil(42 * time.Second)
				runs := c.shown()
				if !again {
					require.Len(t, runs, 2, "to their end")
					require.Empty(t, c.nodes("/orders"))
				} else {
					require.Greater(t, len(runs), 4, "the job goes on")
					requireNoMarks(t, c, 0)
					require.Equal(t, cfg.Class, c.node(orders.Root()).Value)
				}
				a.stop(t)
			})
		})
	}
}

// An instance of ElasticJob 3.x that is killed when it has claimed an item, and has not begun, leaves a mark of that alone.
func TestAClaimantOfElasticJob3IsKilled(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, again bool }{
		"while we are there": {true, false},
		"before we came":     {false, false},
		"while we are there, and starts under its id":   {true, true},
		"before we came, and starts again under its id": {false, true},
	} {
		before := test.before
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := failingSlowly(1)
				j := c.elasticJob3(javaID)
				if before {
					c.startBeside3("a", nil, cfg)
				} else {
					j.store(cfg)
				}
				j.join()
				sleepUntil(20 * time.Second)
				c.take()
				j.do(registry.Put(orders.FailoverItem(0), ""))
				j.claim()
				again := c.elasticJob3(javaID)
				j.vanish()
				if test.again {
					again.do(registry.Delete(orders.Instance(javaID)))
					again.join()
				}
				for c.node(orders.ItemFailover(0)).Exists() {
					time.Sleep(100 * time.Millisecond)
				}
				require.Equal(t, test.again, c.node(orders.Instance(javaID)).Exists())
				if !before {
					c.startBeside3("a", nil, cfg)
				}
				sleepUntil(waitOut)
				require.Len(t, c.reruns(), 1)
				requireNoMarks(t, c, 0)
			})
		})
	}
}

// One that lives has not lost what it claimed, and one that ends its claim leaves nothing to run again.
func TestAClaimantOfElasticJob3Lives(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startBeside3("a", nil, failingSlowly(1))
		j := c.elasticJob3Joins(javaID)
		sleepUntil(20 * time.Second)
		c.take()
		j.do(registry.Put(orders.FailoverItem(0), ""))
		j.claim()
		sleepUntil(30 * time.Second)
		j.begin(0, true)
		sleepUntil(40 * time.Second)
		j.end(0)
		j.do(registry.Delete(orders.ItemFailover(0)))
		time.Sleep(3 * time.Second) // it stands still between its steps
		j.do(registry.Delete(orders.ItemFailovering(0)))
		j.leave()
		sleepUntil(waitOut)
		require.Empty(t, c.reruns())
		requireNoMarks(t, c, 0)
	})
}

// A process with a handler takes up jobs of ElasticJob 3.x by their class, which their own nodes have, and not by their
// names.
func TestAHandlerTakesJobsOfElasticJob3ByTheirClass(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.elasticJob3(javaID).store(sharedJob(2)) // of the class com.acme.Orders
		options := func(class string) []scheduler.Option {
			return append(handlers(c, "a", nil, class), scheduler.WithElasticJob3Peers())
		}
		c.launchWith("a", nil, options("com.acme.Orders"), nil)
		c.launchWith("b", nil, options("orders"), nil)
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 2)
		require.Equal(t, map[string]int{fullID("a"): 2}, c.owners3())

		put(t, c.server, orders.Root(), "com.acme.Others") // as who changes the class does
		sleepUntil(11 * time.Second)
		require.Empty(t, c.take())
		put(t, c.server, orders.Root(), "com.acme.Orders")
		sleepUntil(16 * time.Second)
		require.Len(t, c.take(), 2)
	})
}
