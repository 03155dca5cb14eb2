package scheduler_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

func TestDeclarationsThatJavaCannotRead(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*job.Config){
		"Name":             func(c *job.Config) { c.Name = "orders(eu)" },
		"Class":            func(c *job.Config) { c.Class = "" },
		"ShardingStrategy": func(c *job.Config) { c.ShardingStrategy = "minimal-movement" },
		"Cron":             func(c *job.Config) { c.Cron = "*/5 * * * *" },
		"DaylightSaving":   func(c *job.Config) { c.TimeZone = "Europe/Berlin" },

		"Name, an emoji":             func(c *job.Config) { c.Name = "orders-\U0001F680" },
		"Name, a private character":  func(c *job.Config) { c.Name = "orders-\uE000" },
		"Name, a special":            func(c *job.Config) { c.Name = "orders-\uFFF0" },
		"Cron, Quartz never returns": func(c *job.Config) { c.Cron = "0 0 0 l-28w * ?" },
		"ShardingTotalCount":         func(c *job.Config) { c.ShardingTotalCount = 6000 },
	} {
		field, _, _ = strings.Cut(field, ",")
		server := memory.NewServer()
		reg := server.Open("test")
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithJavaPeers())
		require.NoError(t, err)
		cfg := sharedJob(2)
		change(&cfg)
		_, err = s.Add(t.Context(), cfg, nothing)
		var fault *job.FieldError
		require.ErrorAs(t, err, &fault, field)
		require.Equal(t, field, fault.Field)
		require.ErrorContains(t, err, "Java instances share the job")
		_, err = reg.Get(t.Context(), jobtree.For(cfg.Name).Config())
		require.ErrorIs(t, err, registry.ErrNotFound)
		require.NoError(t, reg.Close(t.Context()))
	}
}

func TestJavaKnowsServersByIPv4(t *testing.T) {
	t.Parallel()
	reg := memory.NewServer().Open("test")
	defer reg.Close(context.Background())
	for _, id := range []string{"fd00::2@-@1", "host@-@1", "10.0.0.1@-@\U0001F680"} {
		_, err := scheduler.New(reg, scheduler.WithInstanceID(id), scheduler.WithJavaPeers())
		require.ErrorIs(t, err, scheduler.ErrInvalidOption)
		require.ErrorContains(t, err, id)
	}
}

func TestAServerIsWrittenOnceAndKept(t *testing.T) {
	t.Parallel()
	path := orders.Server("10.0.0.1")
	for name, test := range map[string]struct {
		found    *string
		disabled bool
		want     string
	}{
		"new":                      {nil, false, ""},
		"new, of a disabled job":   {nil, true, "DISABLED"},
		"disabled by an operator":  {new("DISABLED"), false, "DISABLED"},
		"enabled by an operator":   {new(""), true, ""},
		"enabled in another spell": {new("ENABLED"), false, "ENABLED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				if test.found != nil {
					put(t, c.server, path, *test.found)
				}
				cfg := sharedJob(2)
				cfg.Disabled = test.disabled
				a := c.startShared("a", nil, cfg)
				sleepUntil(time.Second)
				node, err := c.java().registry.Get(t.Context(), path)
				require.NoError(t, err)
				require.Equal(t, test.want, node.Value)
				_, health := a.look(t)
				require.Equal(t, test.want == "DISABLED", health.Disabled)
			})
		})
	}
}

func TestItemsThatAJavaLeaderAssigned(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.javaLeads(javasOwn(3))
		c.startShared("a", nil, sharedJob(3))
		j.reshard(0, fullID("a"), javaID, fullID("a"))
		sleepUntil(6 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s scheduled on a", "item 2 fire 5s scheduled on a"}, c.shown())

		// The total is what was assigned, whatever an epoch of former days says.
		j.do(registry.Put(orders.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 1, Counter: 1, Total: 3})))
		j.store(javasOwn(4))
		sleepUntil(11 * time.Second)
		require.Empty(t, c.shown(), "before there are owners for the new total")
		j.reshard(3, javaID, javaID, javaID, fullID("a"))
		sleepUntil(16 * time.Second)
		require.Equal(t, []string{"item 3 fire 15s scheduled on a"}, c.shown())
	})
}

// Java instances begin nothing while their leader reshards, and the leader waits until nothing runs.
func TestNothingBeginsWhileAJavaLeaderReshards(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.javaLeads(javasOwn(2))
		c.startShared("a", nil, sharedJob(2))
		j.reshard(0, fullID("a"), javaID)
		sleepUntil(9 * time.Second)
		c.take()
		j.ask()
		sleepUntil(11 * time.Second)
		require.Empty(t, c.take())
		j.reshard(2, javaID, fullID("a")) // in the round of second 10, which nobody ran before
		sleepUntil(12 * time.Second)
		require.Equal(t, []string{"item 1 fire 10s scheduled on a"}, c.shown())
	})
}

// An item that comes from a Java instance between two fires has run for the former one: nobody knows, and
// so it does not run again.
func TestAnItemThatComesFromJava(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.javaLeads(javasOwn(2))
		c.startShared("a", nil, sharedJob(2))
		j.reshard(0, fullID("a"), javaID)
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 1)
		j.reshard(2, fullID("a"), fullID("a"))
		sleepUntil(9 * time.Second)
		require.Empty(t, c.take())
		// Java notes that fires were missed, and not which.
		j.do(registry.Put(orders.ItemMisfire(0), ""))
		j.reshard(2, javaID, javaID)
		sleepUntil(11 * time.Second)
		require.Empty(t, c.take())
		j.reshard(2, fullID("a"), javaID)
		sleepUntil(12 * time.Second)
		require.Equal(t, []string{"item 0 fire 10s misfire on a"}, c.shown())
		_, err := j.registry.Get(t.Context(), orders.ItemMisfire(0))
		require.ErrorIs(t, err, registry.ErrNotFound)
	})
}

// Nor if fires of the last while are made up that nobody may have seen: Java ran for them. What came while the item was ours and
// we were down is made up.
func TestAnItemThatComesFromJavaWithinAMisfireWindow(t *testing.T) {
	t.Parallel()
	for _, misfire := range []job.MisfirePolicy{job.MisfireOnce, job.MisfireAll} {
		t.Run("misfire "+string(misfire), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := sharedJob(2)
				cfg.Misfire, cfg.MisfireWindow = misfire, time.Hour
				j := c.javaLeads(asAssigned(cfg))
				a := c.startShared("a", nil, cfg)
				j.reshard(0, fullID("a"), javaID)
				sleepUntil(6 * time.Second)
				require.Len(t, c.take(), 1)
				j.reshard(2, javaID, javaID)
				sleepUntil(17 * time.Second)
				j.reshard(2, fullID("a"), fullID("a"))
				sleepUntil(19 * time.Second)
				require.Empty(t, c.shown())
				sleepUntil(21 * time.Second)
				require.Equal(t, []string{"item 0 fire 20s scheduled on a", "item 1 fire 20s scheduled on a"}, c.shown())

				a.stop(t)
				sleepUntil(26 * time.Second)
				j.do(registry.Delete(orders.Necessary())) // nobody else gets what it had
				c.startShared("b", nil, cfg)
				j.reshard(2, fullID("b"), fullID("b"))
				sleepUntil(29 * time.Second)
				require.Equal(t, []string{"item 0 fire 25s misfire on b", "item 1 fire 25s misfire on b"}, c.shown())
			})
		})
	}
}

// The console of 2.1.5 that asks an instance to run in the moment in which it leaves makes a node that no session owns, and a
// Java leader would give it items for ever.
func TestAGhostUnderAJavaLeader(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.javaLeads(dailyAsAssigned(2))
		c.startShared("a", nil, daily(2))
		j.do(registry.Put(orders.Instance(fullID("gone")), "TRIGGER"))
		j.reshard(0, fullID("a"), fullID("gone"))
		sleepUntil(5 * time.Second)
		require.False(t, c.node(orders.Instance(fullID("gone"))).Exists())
		require.True(t, c.node(orders.Instance(fullID("a"))).Exists())
		require.True(t, c.node(orders.Instance(javaID)).Exists())
	})
}

// A Java leader that stood still in its resharding until its session was over goes on with it, under its new session: it says
// that it reshards, takes the items from their owners, and cannot end that. Java instances would wait for it.
func TestAFormerJavaLeaderReshards(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]func(c *cluster) *java{
		"2.1.5": func(c *cluster) *java {
			c.startShared("a", nil, failingSlowly(2))
			return c.javaJoins(javaID)
		},
		"3.x": func(c *cluster) *java {
			c.startBeside3("a", nil, failingSlowly(2))
			return c.elasticJob3Joins(javaID).java
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				j := start(c)
				sleepUntil(19 * time.Second)
				c.take()
				j.ask()
				sleepUntil(20 * time.Second)
				j.beginAssigning()
				for item := range 2 {
					j.do(registry.Delete(orders.ItemInstance(item)))
				}
				sleepUntil(21 * time.Second)
				require.False(t, c.node(orders.Processing()).Exists())
				require.False(t, c.node(orders.Necessary()).Exists())
				for item := range 2 {
					require.True(t, c.node(orders.ItemInstance(item)).Exists(), item)
				}
				sleepUntil(71 * time.Second)
				require.Len(t, c.take(), 1, "ours goes on")
			})
		})
	}
}

// What a Java instance ran between two of ours is not run again by the second, although it is not in the record.
func TestAnItemThatCameFromJavaGoesOn(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.javaLeads(javasOwn(1))
		c.startShared("a", nil, sharedJob(1))
		c.startShared("b", nil, sharedJob(1))
		j.reshard(0, fullID("a"))
		sleepUntil(6 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s scheduled on a"}, c.shown())
		j.reshard(1, javaID)
		sleepUntil(11 * time.Second) // Java has run for second 10
		j.reshard(1, fullID("a"))
		c.startShared("c", nil, sharedJob(1)) // which does not know who had the item before
		sleepUntil(12 * time.Second)
		j.reshard(1, fullID("b"))
		sleepUntil(13 * time.Second)
		j.reshard(1, fullID("c"))
		sleepUntil(14 * time.Second)
		require.Empty(t, c.shown())
		sleepUntil(16 * time.Second)
		require.Equal(t, []string{"item 0 fire 15s scheduled on c"}, c.shown())
	})
}

// Java instances that waited for a resharding in the round of a fire run the items that they have got then. One that comes to
// an instance of ours later, before the next fire, has run.
func TestWhatJavaRanAfterItWaitedIsNotRunAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.javaLeads(javasOwn(2))
		c.startShared("a", nil, sharedJob(2))
		j.reshard(0, javaID, javaID)
		sleepUntil(9 * time.Second)
		j.ask()
		sleepUntil(11 * time.Second)
		j.reshard(2, fullID("a"), javaID)
		sleepUntil(12 * time.Second)
		require.Equal(t, []string{"item 0 fire 10s scheduled on a"}, c.shown())
		j.begin(1)
		j.end(1)
		j.leaveAndAsk()
		j.reshard(2, fullID("a"), fullID("a"))
		sleepUntil(14 * time.Second)
		require.Empty(t, c.shown())
		sleepUntil(16 * time.Second)
		require.ElementsMatch(t, []string{"item 0 fire 15s scheduled on a", "item 1 fire 15s scheduled on a"}, c.shown())
	})
}

// The fire in whose round Java instances wait for a resharding is theirs, of the items that it gives to them. What was missed
// before is noted for them, if each fire is to be made up.
func TestAFireThatJavaWaitsForIsNotNotedAsMissed(t *testing.T) {
	t.Parallel()
	all := sharedJob(2)
	all.Misfire = job.MisfireAll
	for name, test := range map[string]struct {
		cfg   job.Config
		last  time.Duration // the fire in whose round they wait
		to    string        // who gets the items
		noted []time.Time
	}{
		"one fire": {sharedJob(2), 10 * time.Second, javaID, nil},
		"two fires, of which the newest stands for both": {sharedJob(2), 15 * time.Second, javaID, nil},
		"two fires":                            {all, 15 * time.Second, javaID, []time.Time{bubbleStart.Add(10 * time.Second)}},
		"to an instance that came after it":    {sharedJob(2), 10 * time.Second, secondJavaID, []time.Time{bubbleStart.Add(10 * time.Second)}},
		"to an instance that ran when it came": {sharedJob(2), 10 * time.Second, lastJavaID, []time.Time{bubbleStart.Add(10 * time.Second)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				j := c.javaLeads(asAssigned(test.cfg))
				c.startShared("a", nil, test.cfg)
				j.reshard(0, fullID("a"), fullID("a"))
				sleepUntil(9 * time.Second)
				busy := c.javaJoins(lastJavaID)
				busy.begin(2)
				sleepUntil(test.last + 300*time.Millisecond)
				c.javaJoins(secondJavaID)
				sleepUntil(test.last + 500*time.Millisecond)
				busy.end(2)
				j.beginAssigning()
				j.do(registry.Delete(orders.ItemInstance(0)))
				sleepUntil(test.last + time.Second)
				_, err := j.registry.Get(t.Context(), orders.ItemMisfire(0))
				require.ErrorIs(t, err, registry.ErrNotFound, "nobody knows yet who gets the item")
				j.do(registry.Delete(orders.ItemInstance(1)))
				j.do(registry.Delete(orders.Necessary()), registry.Delete(orders.Processing()),
					registry.Put(orders.ItemInstance(0), test.to), registry.Put(orders.ItemInstance(1), test.to))
				sleepUntil(test.last + 2*time.Second)
				for item := range 2 {
					require.Equal(t, test.noted, c.state().Item(item).Misfire.Value.Fires, "item %d", item)
				}
				require.Len(t, c.take(), 2, "of second 5")
			})
		})
	}
}

// A fire that comes while an item runs here and Java instances wait for that is theirs, if they get the item when it has ended.
// Nothing is noted for it with the end of the execution; what came before is.
func TestAFireThatComesWhileJavaWaitsForARunIsNotNotedWithItsEnd(t *testing.T) {
	t.Parallel()
	all := sharedJob(1)
	all.Misfire = job.MisfireAll
	for name, test := range map[string]struct {
		cfg   job.Config
		lasts time.Duration // the run of second 5
		asked time.Duration // when Java is asked for the resharding
		to    string        // who gets the item
		noted []time.Time
		shown []string // of ours, later
	}{
		"to one that waits":         {cfg: sharedJob(1), lasts: 7 * time.Second, asked: 9 * time.Second, to: javaID},
		"to one that came after it": {sharedJob(1), 7 * time.Second, 9 * time.Second, secondJavaID, []time.Time{bubbleStart.Add(10 * time.Second)}, nil},
		"to us":                     {cfg: sharedJob(1), lasts: 7 * time.Second, asked: 9 * time.Second, to: fullID("a"), shown: []string{"item 0 fire 10s scheduled on a"}},
		"asked after the fire":      {sharedJob(1), 7 * time.Second, 11 * time.Second, javaID, []time.Time{bubbleStart.Add(10 * time.Second)}, nil},
		"two fires":                 {all, 12 * time.Second, 9 * time.Second, javaID, []time.Time{bubbleStart.Add(10 * time.Second)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				j := c.javaLeads(asAssigned(test.cfg))
				c.startShared("a", slowOnce(test.lasts), test.cfg)
				j.reshard(0, fullID("a"))
				sleepUntil(test.asked)
				j.ask()
				sleepUntil(11500 * time.Millisecond)
				c.javaJoins(secondJavaID)
				sleepUntil(5*time.Second + test.lasts + 100*time.Millisecond)
				require.Len(t, c.take(), 1)
				j.reshard(1, test.to)
				sleepUntil(5*time.Second + test.lasts + time.Second)
				require.Equal(t, test.noted, c.state().Item(0).Misfire.Value.Fires)
				require.Equal(t, test.shown, c.shown())
			})
		})
	}
}

// A leader of ours never keeps Java waiting: the request is answered at once, and an item that runs is
// moved when it has ended.
func TestAReshardingLeavesRunningItemsWhereTheyAre(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startShared("a", nil, sharedJob(4))
		sleepUntil(time.Second)
		j := c.javaJoins(javaID)
		sleepUntil(2 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 2, javaID: 2}, c.owners())
		s := c.state()
		require.Zero(t, s.Necessary)
		require.Equal(t, javaID, s.Owner(0))
		require.False(t, s.LedByJava())

		j.begin(0)
		j.do(registry.Put(orders.Server("10.0.0.9"), "DISABLED"), registry.Put(orders.Necessary(), ""))
		sleepUntil(2500 * time.Millisecond)
		s = c.state()
		require.Zero(t, s.Necessary, "Java waits for this to go")
		require.Equal(t, javaID, s.Owner(0), "it runs")
		require.Equal(t, fullID("a"), s.Owner(1))
		j.end(0)
		sleepUntil(3 * time.Second)
		require.Equal(t, map[string]int{fullID("a"): 4}, c.owners())
	})
}

func TestTheCountIsChangedAmongJavaInstances(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startShared("a", nil, sharedJob(4))
		for i, total := range []int{9, 2, 3} {
			fire := time.Duration(i+1) * 10 * time.Second
			sleepUntil(fire - 2*time.Second)
			c.take()
			c.change(sharedJob(total))
			sleepUntil(fire + time.Second)
			require.Len(t, c.take(), total)
			for item := total; item < 9; item++ {
				require.Zero(t, c.state().Item(item).InstanceRevision, "what Java would count")
			}
		}
	})
}

// The console shuts an instance down by deleting its node.
func TestAnInstanceThatIsShutDown(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.startShared("a", lasting(20*time.Second), sharedJob(2))
		c.startShared("b", nil, sharedJob(2))
		sleepUntil(6 * time.Second)
		c.java().do(registry.Delete(orders.Instance(fullID("a"))))
		sleepUntil(8 * time.Second)
		s := c.state()
		require.Equal(t, fullID("b"), s.Leader.Instance)
		require.Zero(t, s.Instance(fullID("a")).Created)
		sleepUntil(40 * time.Second)
		for _, r := range c.take() {
			require.False(t, r.instance == "a" && !r.sc.Fire.Equal(bubbleStart.Add(5*time.Second)), "it began nothing more: %s", r)
		}
		require.Equal(t, map[string]int{fullID("b"): 2}, c.owners())
		require.Equal(t, jobtree.ItemIdle, c.state().Item(0).Record.Value.State)
		a.stop(t)
	})
}

// A session that is lost is no shutdown.
func TestALostSessionAmongJavaInstances(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.startShared("a", nil, sharedJob(2))
		for i := range 5 {
			minute := time.Duration(i) * time.Minute
			sleepUntil(minute + 6*time.Second)
			a.registry.Expire()
			sleepUntil(minute + 50*time.Second)
			c.take()
			sleepUntil(minute + 56*time.Second)
			require.Len(t, c.take(), 2)
		}
	})
}

// Java takes the mark of a running item away when it begins the same item, and when it reconnects.
func TestAMarkThatJavaTookAway(t *testing.T) {
	t.Parallel()
	for name, replaced := range map[string]bool{"replaced": true, "removed": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.startShared("a", lasting(3*time.Second), sharedJob(1))
				j := c.java()
				sleepUntil(6 * time.Second)
				j.end(0)
				if replaced {
					j.begin(0)
				}
				sleepUntil(9 * time.Second)
				record := c.state().Item(0).Record.Value
				require.Equal(t, jobtree.ItemIdle, record.State)
				require.Equal(t, jobtree.Success, record.Current.Outcome)
				require.Equal(t, replaced, c.state().Item(0).Running.Exists(), "Java's stays")
				if replaced {
					j.end(0)
				}
				sleepUntil(19 * time.Second)
				require.GreaterOrEqual(t, len(c.take()), 2, "it goes on")
			})
		})
	}
}

// What a Java instance was running when it crashed is run again, and nothing else is.
func TestAJavaInstanceCrashes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startShared("a", nil, failingOver(4))
		sleepUntil(time.Second)
		j := c.javaJoins(javaID)
		sleepUntil(6 * time.Second)
		c.take()
		j.begin(0)
		j.begin(1)
		j.end(1)
		j.vanish()
		sleepUntil(14 * time.Second)
		reruns := c.reruns()
		require.Equal(t, []string{"item 0 fire 5s failover on a"}, reruns, "the fire before it began, and not before its session was over")
	})
}

// A process that starts again under the same id, as in a container, hides the crash of the one before it from whoever looks at
// the instance alone: the old session's marks go later, when only the new one's node is there.
func TestAJavaInstanceStartsAgainUnderItsID(t *testing.T) {
	t.Parallel()
	for name, claimed := range map[string]bool{"as it runs its item": false, "as it runs by a claim": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.startShared("a", nil, failingSlowly(1))
				sleepUntil(time.Second)
				j := c.javaJoins(javaID, memory.WithTTL(20*time.Second)) // Java's lasts longer yet
				sleepUntil(12 * time.Second)
				c.take()
				if claimed {
					j.takeOver()
				} else {
					j.begin(0)
				}
				time.Sleep(500 * time.Millisecond)
				again := c.java()
				j.vanish()
				time.Sleep(time.Second)
				again.leave()
				again.join()
				sleepUntil(waitOut)
				require.Equal(t, []string{"item 0 fire 10s failover on a"}, c.reruns())
				requireNoMarks(t, c, 0)
			})
		})
	}
}

// One that comes back in another session takes its marks away one after the other, and over a slow store that takes its time.
// What it still runs meanwhile is not run again.
func TestAJavaInstanceThatClearsItsMarksSlowly(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startShared("a", nil, failingSlowly(6))
		sleepUntil(time.Second)
		j := c.javaJoins(javaID, memory.WithTTL(40*time.Second))
		sleepUntil(12 * time.Second)
		c.take()
		again := c.java()
		for item := range 6 {
			j.begin(item)
		}
		time.Sleep(500 * time.Millisecond)
		again.leave()
		again.comeBack()
		for item := range 6 {
			time.Sleep(900 * time.Millisecond)
			again.end(item)
		}
		j.vanish()
		sleepUntil(waitOut)
		require.Empty(t, c.reruns())
	})
}

// A process whose session another one follows, as after an outage, takes its marks away, or ends what it has claimed.
func TestAJavaInstanceComesBackInAnotherSession(t *testing.T) {
	t.Parallel()
	for name, claimed := range map[string]bool{"as it runs its item": false, "as it runs by a claim": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.startShared("a", nil, failingSlowly(1))
				sleepUntil(time.Second)
				j := c.javaJoins(javaID)
				sleepUntil(12 * time.Second)
				c.take()
				again := c.java()
				if claimed {
					j.takeOver()
				} else {
					j.begin(0)
				}
				time.Sleep(500 * time.Millisecond)
				again.leave()
				again.comeBack()
				if claimed {
					time.Sleep(5 * time.Second)
					again.endTakenOver()
				} else {
					time.Sleep(500 * time.Millisecond)
					again.end(0)
				}
				j.vanish()
				sleepUntil(waitOut)
				require.Empty(t, c.reruns())
				requireNoMarks(t, c, 0)
			})
		})
	}
}

// What it ran for another that had crashed is lost with it, also where its claim is seen to go last.
func TestAJavaClaimantCrashes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startShared("a", nil, failingOver(4))
		sleepUntil(time.Second)
		j := c.javaJoins(javaID)
		sleepUntil(6 * time.Second)
		c.take()
		j.takeOver()
		j.do(registry.Delete(orders.Instance(javaID)), registry.Delete(orders.ItemRunning(0)))
		time.Sleep(100 * time.Millisecond)
		j.do(registry.Delete(orders.ItemFailover(0)))
		sleepUntil(14 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s failover on a"}, c.reruns())
	})
}

// A Java instance that reconnects deletes its node and makes it anew, and takes its marks away. One that
// leaves ends what it runs first.
func TestAJavaInstanceThatDidNotCrash(t *testing.T) {
	t.Parallel()
	for name, deed := range map[string]func(j *java){
		"reconnects": func(j *java) {
			j.leave()
			j.comeBack()
			j.end(0)
		},
		"reconnects at once": func(j *java) {
			j.do(registry.Delete(orders.Instance(javaID)), registry.Delete(orders.ItemRunning(0)))
			time.Sleep(100 * time.Millisecond)
			j.comeBack()
		},
		"leaves": func(j *java) {
			j.end(0)
			j.leave()
		},
		"is shut down": func(j *java) {
			j.leave()
			time.Sleep(time.Second)
			j.end(0)
		},
		"is run again by Java": func(j *java) {
			other := j.registry
			j.do(registry.Delete(orders.Instance(javaID)), registry.Delete(orders.ItemRunning(0)))
			session, err := other.Session(j.t.Context())
			require.NoError(j.t, err)
			j.do(registry.PutOwned(orders.ItemFailover(0), "10.0.0.9@-@8", session))
			time.Sleep(3 * time.Second)
			j.do(registry.Delete(orders.ItemFailover(0)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.startShared("a", nil, failingOver(4))
				sleepUntil(time.Second)
				j := c.javaJoins(javaID)
				sleepUntil(6 * time.Second)
				j.begin(0)
				deed(j)
				sleepUntil(time.Minute)
				for _, r := range c.take() {
					require.NotEqual(t, job.Failover, r.sc.Source)
				}
			})
		})
	}
}

// What Java takes over is Java's, and the item's next fire runs.
func TestJavaTakesALostExecutionOver(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		b := c.startShared("b", stuck, failingOver(1))
		sleepUntil(6 * time.Second)
		j := c.javaJoins(javaID)
		b.crash(t)
		sleepUntil(14 * time.Second)
		j.takeOver()
		c.take()
		c.startShared("a", nil, failingOver(1))
		sleepUntil(19 * time.Second)
		require.Empty(t, c.take(), "it runs, in Java")
		require.Equal(t, jobtree.ItemInterrupted, c.state().Item(0).Record.Value.State)
		j.endTakenOver()
		j.leave()
		sleepUntil(29 * time.Second)
		for _, r := range c.take() {
			require.NotEqual(t, job.Failover, r.sc.Source)
		}
		sleepUntil(31 * time.Second)
		require.Equal(t, []string{"item 0 fire 30s scheduled on a"}, c.shown())
	})
}

// Java claims what waits: the wish is gone, and who runs the item is not known any more when somebody
// looks.
func TestAWishThatJavaGranted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		b := c.startShared("b", stuck, failingOver(1))
		sleepUntil(6 * time.Second)
		b.crash(t)
		sleepUntil(14 * time.Second)
		c.take()
		record, err := c.state().Item(0).Record.Value.DeclareLost(7, time.Now(), 0)
		require.NoError(t, err)
		put(t, c.server, orders.ItemRecord(0), jobtree.EncodeRecord(record))
		c.startShared("a", nil, failingOver(1))
		sleepUntil(16 * time.Second)
		require.Equal(t, []string{"item 0 fire 15s scheduled on a"}, c.shown())
	})
}

// The Java console asks each instance by itself. Each answers for itself, and takes its request back.
func TestTheJavaConsoleTriggers(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := sharedJob(4)
		cfg.Cron = "0 0 0 1 7 ?"
		c.startShared("a", nil, cfg)
		j := c.javaJoins(javaID)
		sleepUntil(time.Second)
		require.Equal(t, map[string]int{fullID("a"): 2, javaID: 2}, c.owners())
		for range 2 {
			for _, id := range []string{fullID("a"), javaID} {
				j.do(registry.Update(orders.Instance(id), "TRIGGER"))
			}
			time.Sleep(time.Second)
			require.Equal(t, []string{"item 2 fire by hand manual on a", "item 3 fire by hand manual on a"}, c.shown())
			require.False(t, c.state().Instance(fullID("a")).Triggered)
		}
	})
}

// A Java leader forgets a request that came while it was assigning. It is asked again for each change of members that it
// forgot, also if that is an instance which has gone, after which nothing in the tree is newer than before.
func TestAJavaLeaderForgetsWhoLeft(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.javaLeads(daily(3))
		c.startShared("a", nil, daily(3))
		b := c.startShared("b", nil, daily(3))
		sleepUntil(time.Second)
		j.reshard(0, javaID, fullID("a"), javaID) // it did not see b come
		sleepUntil(2 * time.Second)
		require.Zero(t, c.state().Necessary)
		sleepUntil(5 * time.Second)
		require.NotZero(t, c.state().Necessary, "it is asked again")
		j.reshard(3, javaID, fullID("b"), fullID("a"))
		sleepUntil(8 * time.Second)
		require.Zero(t, c.state().Necessary)
		b.stop(t)
		j.reshard(3, javaID, fullID("b"), fullID("a")) // it did not see b go
		require.Zero(t, c.state().Necessary)
		sleepUntil(12 * time.Second)
		require.NotZero(t, c.state().Necessary, "an item has nobody")
		j.reshard(3, javaID, fullID("a"), javaID)
		sleepUntil(20 * time.Second)
		require.Zero(t, c.state().Necessary)
	})
}

// A Java instance that reconnects is gone for a moment, and keeps its items.
func TestAJavaInstanceKeepsItsItemsAsItReconnects(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startShared("a", nil, daily(4))
		sleepUntil(time.Second)
		j := c.javaJoins(javaID)
		sleepUntil(30 * time.Second)
		before := c.node(orders.ItemInstance(0))
		require.Equal(t, javaID, before.Value)
		j.leave()
		time.Sleep(3 * time.Millisecond)
		j.comeBack()
		sleepUntil(time.Minute)
		require.Equal(t, before, c.node(orders.ItemInstance(0)))
	})
}

// A claim among Java peers comes back when its item had nothing else to be remembered for.
func TestAClaimOfABlankItem(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := sharedJob(1)
		cfg.Cron = "0 0/5 * * * ?"
		cfg.Failover = true
		b := c.startShared("b", took(time.Hour), cfg)
		c.startShared("a", took(time.Minute), cfg)
		sleepUntil(5*time.Minute + time.Second)
		b.crash(t)
		c.take()
		sleepUntil(8 * time.Minute)
		require.Equal(t, []string{"item 0 fire 5m0s failover on a"}, c.shown()[:1])
	})
}
