package scheduler_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
)

// everySecond is a cron that fires at each second, and makeUpAll a job with it that makes up every fire.
const everySecond = "* * * * * ?"

func makeUpAll(total int) job.Config {
	cfg := job.Config{Name: "orders", Cron: everySecond, ShardingTotalCount: total}
	cfg.Misfire, cfg.MisfireMax = job.MisfireAll, 1000
	return cfg
}

// onServer runs an instance on a server of its own, "10.0.0." and a number, so that it can be disabled
// alone.
func (c *cluster) onServer(number int, id string, oneWay time.Duration, work job.HandlerFunc, cfg job.Config) *instance {
	c.t.Helper()
	reg := c.server.Open("test", memory.WithLatency(oneWay))
	s, err := scheduler.New(reg, scheduler.WithInstanceID(fmt.Sprintf("10.0.0.%d@-@%s", number, id)))
	require.NoError(c.t, err)
	require.NoError(c.t, errOf(s.Add(c.t.Context(), cfg, c.record(id, work))))
	i := c.run(s, reg)
	<-i.Ready()
	return i
}

// disable has an operator disable or enable a server of the job.
func (c *cluster) disable(number int, disabled bool) {
	c.t.Helper()
	put(c.t, c.server, jobtree.For("orders").Server(fmt.Sprintf("10.0.0.%d", number)), jobtree.EncodeServer(disabled))
}

// firesOf returns for each item how often it ran for each fire, as seconds since the bubble began. Reruns of
// executions that were lost count only if code had not been called before.
func firesOf(runs []run) map[int]map[int]int {
	fires, reruns := make(map[int]map[int]int), make(map[int]map[int]int)
	for _, r := range runs {
		if fires[r.sc.Item] == nil {
			fires[r.sc.Item], reruns[r.sc.Item] = make(map[int]int), make(map[int]int)
		}
		second := int(r.sc.Fire.Sub(bubbleStart) / time.Second)
		if r.sc.Source == job.Failover {
			reruns[r.sc.Item][second]++
		} else {
			fires[r.sc.Item][second]++
		}
	}
	for n, seconds := range reruns {
		for second, times := range seconds {
			if fires[n][second] == 0 {
				fires[n][second] = times
			}
		}
	}
	return fires
}

// requireEachFire wants that each item ran once for each of the fires.
func requireEachFire(t *testing.T, runs []run, items, from, until int) {
	t.Helper()
	fires := firesOf(runs)
	for n := range items {
		for second := from; second <= until; second++ {
			require.Equal(t, 1, fires[n][second], "item %d, fire of second %d, of %v", n, second, runs)
		}
	}
}

// Missed fires travel with their item. Each story has an item whose run for second 5 takes ten seconds,
// and no fire may be lost whatever becomes of the item meanwhile.
func TestMissedFiresTravelWithTheirItem(t *testing.T) {
	t.Parallel()
	type world struct {
		*cluster
		a    *instance
		cfg  job.Config
		work job.HandlerFunc
	}
	for name, story := range map[string]func(t *testing.T, w world){
		"it stays": func(*testing.T, world) {},
		"an instance joins, and the item moves while it runs": func(_ *testing.T, w world) {
			sleepUntil(10500 * time.Millisecond)
			w.onServer(2, "b", 0, w.work, w.cfg)
		},
		"it moves away and back while it runs": func(t *testing.T, w world) {
			sleepUntil(7500 * time.Millisecond)
			b := w.onServer(2, "b", 0, w.work, w.cfg)
			sleepUntil(9500 * time.Millisecond)
			b.stop(t)
		},
		"it moves away and back before its instance looked again": func(t *testing.T, w world) {
			sleepUntil(7500 * time.Millisecond)
			w.a.registry.SetLatency(400 * time.Millisecond)
			b := w.onServer(2, "b", 0, w.work, w.cfg)
			sleepUntil(9500 * time.Millisecond)
			b.stop(t)
			w.a.registry.SetLatency(0)
		},
		"it moves on before it has ended": func(t *testing.T, w world) {
			sleepUntil(7500 * time.Millisecond)
			b := w.onServer(2, "b", 0, w.work, w.cfg)
			sleepUntil(9500 * time.Millisecond)
			w.onServer(3, "c", 0, w.work, w.cfg)
			sleepUntil(12500 * time.Millisecond)
			b.stop(t)
		},
		"its instance stops": func(t *testing.T, w world) {
			sleepUntil(9500 * time.Millisecond)
			w.onServer(2, "b", 0, w.work, w.cfg)
			sleepUntil(10500 * time.Millisecond)
			w.a.stop(t)
		},
		"its instance stops while it catches up": func(t *testing.T, w world) {
			sleepUntil(14900 * time.Millisecond)
			w.a.registry.SetLatency(30 * time.Millisecond) // so that the catch-up takes a while
			sleepUntil(15100 * time.Millisecond)
			w.onServer(2, "b", 0, w.work, w.cfg)
			w.a.stop(t)
		},
		"its instance is disabled and enabled": func(_ *testing.T, w world) {
			w.onServer(0, "0", 0, w.work, w.cfg) // has no item: the last id is given it
			sleepUntil(8500 * time.Millisecond)
			w.disable(1, true)
			sleepUntil(17500 * time.Millisecond)
			w.disable(1, false)
		},
		"the registry knows it alone for a while": func(t *testing.T, w world) {
			sleepUntil(9500 * time.Millisecond)
			b := w.onServer(2, "b", 0, w.work, w.cfg)
			sleepUntil(15200 * time.Millisecond)
			b.stop(t)
			w.a.stop(t)
			w.onServer(3, "c", 0, w.work, w.cfg)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				w := world{cluster: c, cfg: makeUpAll(1), work: slowOnce(10 * time.Second)}
				w.a = c.onServer(1, "a", 0, w.work, w.cfg)
				story(t, w)
				sleepUntil(30500 * time.Millisecond)
				runs := c.take()
				requireEachFire(t, runs, 1, 1, 30)
				for i := 1; i < len(runs); i++ {
					require.True(t, runs[i].sc.Fire.After(runs[i-1].sc.Fire), "in order")
				}
				require.False(t, c.state().Item(0).Misfire.Exists(), "nothing is left to be made up")
			})
		})
	}
}

// A server is disabled in the very moment when nobody leads who could give its items to others.
func TestFiresOfADisabledServerWhileNobodyLeads(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		leader := c.onServer(1, "leader", 0, nil, makeUpAll(2))
		c.onServer(2, "b", 0, nil, makeUpAll(2))
		c.onServer(3, "c", 0, nil, makeUpAll(2))
		sleepUntil(5500 * time.Millisecond)
		owned := c.owners()
		leader.crash(t)
		c.disable(3, true)
		require.Equal(t, map[string]int{"10.0.0.3@-@c": 1, "10.0.0.2@-@b": 1}, owned)
		sleepUntil(8500 * time.Millisecond)
		c.onServer(4, "d", 0, nil, makeUpAll(2)) // has not ticked what came before
		sleepUntil(30500 * time.Millisecond)
		requireEachFire(t, c.take(), 2, 1, 30)
	})
}

// An item loses its owner, or who runs it, and comes to an instance that has started only meanwhile. Who has
// been there all the time has ticked what it missed, and says so.
func TestFiresOfAnItemThatLostItsOwner(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		busy    time.Duration // with the fire of second 5
		joins   time.Duration
		crashes time.Duration
		far     time.Duration // is the witness, one way: its note comes later than the item
	}{
		"idle":                                 {joins: 9500 * time.Millisecond, crashes: 5500 * time.Millisecond},
		"running":                              {busy: 10 * time.Second, joins: 9500 * time.Millisecond, crashes: 7500 * time.Millisecond},
		"running, and another's by then":       {busy: 10 * time.Second, joins: 8500 * time.Millisecond, crashes: 9200 * time.Millisecond},
		"running, and another's just a moment": {busy: 10 * time.Second, joins: 9190 * time.Millisecond, crashes: 9200 * time.Millisecond},
		"idle, and told late":                  {joins: 9500 * time.Millisecond, crashes: 5500 * time.Millisecond, far: 300 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := makeUpAll(1)
				cfg.Failover = true
				witness := c.onServer(0, "witness", 0, nil, cfg)
				a := c.onServer(1, "a", 0, slowOnce(test.busy), cfg)
				join := func() { c.onServer(2, "b", 0, nil, cfg) }
				if test.joins < test.crashes {
					sleepUntil(test.joins)
					join()
				}
				sleepUntil(test.crashes)
				a.crash(t)
				witness.registry.SetLatency(test.far)
				if test.joins > test.crashes {
					sleepUntil(test.joins)
					join()
				}
				sleepUntil(30500 * time.Millisecond)
				requireEachFire(t, c.take(), 1, 1, 30)
				require.Equal(t, map[string]int{"10.0.0.2@-@b": 1}, c.owners())
			})
		})
	}
}

// So it does to an owner that died and has started again under its id: the item was its own all the time, and what came
// before the process started, it has not ticked.
func TestFiresOfAnItemWhoseOwnerStartedAgain(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		busy  time.Duration // with the fire of second 5
		first bool          // it was the oldest instance
		far   time.Duration // is the witness, one way: its note comes later than the owner
	}{
		"idle":                     {},
		"running":                  {busy: 10 * time.Second},
		"idle, and told late":      {far: 300 * time.Millisecond},
		"idle, and was the oldest": {first: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := makeUpAll(1)
				cfg.Failover = true
				var a, witness *instance
				if test.first {
					a = c.onServer(1, "a", 0, slowOnce(test.busy), cfg)
				}
				witness = c.onServer(0, "witness", 0, nil, cfg)
				if !test.first {
					a = c.onServer(1, "a", 0, slowOnce(test.busy), cfg)
				}
				sleepUntil(5500 * time.Millisecond)
				a.crash(t)
				witness.registry.SetLatency(test.far)
				sleepUntil(6500 * time.Millisecond) // its session lives, and until that ends it waits
				c.onServer(1, "a", 0, nil, cfg)
				sleepUntil(30500 * time.Millisecond)
				requireEachFire(t, c.take(), 1, 1, 30)
				require.Equal(t, map[string]int{"10.0.0.1@-@a": 1}, c.owners())
			})
		})
	}
}

const given = "fires that an item may have missed are given up: who would know of them has told nothing"

// Who has ticked what was missed may stand still, or be far away, while the new owner of the item waits. Then the owner gives
// up what was missed, and says so. It says nothing when it was told.
func TestAnOwnerSaysWhatItGivesUp(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pause time.Duration // of the one who knows, from before the owner is there
		far   time.Duration // is it, one way
		told  bool
	}{
		"it stands still": {pause: 3700 * time.Millisecond},
		"it is far away":  {far: 1050 * time.Millisecond},
		"it tells":        {told: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var logs logbook
				knows := c.onServer(0, "knows", 0, nil, makeUpAll(1))
				a := c.onServer(1, "a", 0, nil, makeUpAll(1))
				sleepUntil(3500 * time.Millisecond)
				a.crash(t)
				sleepUntil(5300 * time.Millisecond)
				knows.registry.SetLatency(test.far)
				if test.pause > 0 {
					knows.registry.Pause()
				}
				a.registry.Expire()
				sleepUntil(5500 * time.Millisecond)
				reg := c.server.Open("test")
				again, err := scheduler.New(reg, scheduler.WithInstanceID(a.InstanceID()), scheduler.WithLogger(slog.New(&logs)))
				require.NoError(t, err)
				require.NoError(t, errOf(again.Add(t.Context(), makeUpAll(1), c.record("a", nil))))
				c.run(again, reg)
				sleepUntil(5300*time.Millisecond + test.pause)
				knows.registry.Resume()
				sleepUntil(20500 * time.Millisecond)
				knows.registry.SetLatency(0)
				runs := c.take()
				requireEachFire(t, runs, 1, 6, 20)
				if test.told {
					requireEachFire(t, runs, 1, 1, 20)
					require.Zero(t, logs.of(given))
					return
				}
				require.Zero(t, firesOf(runs)[0][5])
				require.Equal(t, 1, logs.of(given))
			})
		})
	}
}

// Fires that the new times of a job have, and the former ones had not, nobody has missed; nor those of a time in which the job
// was disabled. An owner that was not there when the settings were changed does not know that, and says nothing of them.
func TestAnOwnerGivesUpNothingThatIsOlderThanTheSettings(t *testing.T) {
	t.Parallel()
	minutely, tenths := makeUpAll(2), makeUpAll(2)
	minutely.Cron, tenths.Cron = "0 * * * * ?", "*/10 * * * * ?"
	disabled := tenths
	disabled.Disabled = true
	for name, settings := range map[string][2]job.Config{ // at first, and then until those that count
		"another cron":    {minutely, minutely},
		"it was disabled": {tenths, disabled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var logs logbook
				c.onServer(0, "a", 0, nil, settings[0])
				b := c.onServer(1, "b", 0, nil, settings[0])
				sleepUntil(65500 * time.Millisecond)
				c.change(settings[1])
				sleepUntil(85500 * time.Millisecond)
				c.change(tenths)
				reg := c.server.Open("test")
				s, err := scheduler.New(reg, scheduler.WithInstanceID("10.0.0.2@-@c"), scheduler.WithLogger(slog.New(&logs)))
				require.NoError(t, err)
				require.NoError(t, errOf(s.Add(t.Context(), tenths, c.record("c", nil))))
				<-c.run(s, reg).Ready()
				b.stop(t)
				c.take()
				sleepUntil(125 * time.Second)
				runs := c.take()
				for fire := 90; fire <= 120; fire += 10 {
					requireEachFire(t, runs, 2, fire, fire)
				}
				require.True(t, slices.ContainsFunc(runs, func(r run) bool { return r.instance == "c" }))
				require.Zero(t, logs.of(given))
			})
		})
	}
}

// Of an item that has run by hand alone nobody knows when its fires began, and what was missed before its first run is not
// made up: nothing is given up of it.
func TestAnOwnerGivesUpNothingBeforeTheFirstFire(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var logs logbook
		cfg := makeUpAll(2)
		cfg.Cron = "0 * * * * ?"
		sleepUntil(125 * time.Second)
		a := c.onServer(0, "a", 0, nil, cfg)
		b := c.onServer(1, "b", 0, nil, cfg)
		require.NoError(t, errOf(ordersOf(t, a).Trigger(t.Context())))
		sleepUntil(130 * time.Second)
		require.Len(t, c.take(), 2)
		reg := c.server.Open("test")
		s, err := scheduler.New(reg, scheduler.WithInstanceID("10.0.0.2@-@c"), scheduler.WithLogger(slog.New(&logs)))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), cfg, c.record("c", nil))))
		<-c.run(s, reg).Ready()
		b.stop(t)
		sleepUntil(185 * time.Second)
		runs := c.take()
		requireEachFire(t, runs, 2, 180, 180)
		require.True(t, slices.ContainsFunc(runs, func(r run) bool { return r.instance == "c" }))
		require.Zero(t, logs.of(given))
	})
}

// Who leaves tells what it knows at once, though it had left that to somebody older: that one may never tell.
func TestWhoLeavesTellsWithoutWaitingForTheOldest(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		oldest := c.onServer(0, "oldest", 0, nil, makeUpAll(1))
		next := c.onServer(1, "next", 0, nil, makeUpAll(1))
		a := c.onServer(2, "a", 0, nil, makeUpAll(1))
		sleepUntil(3500 * time.Millisecond)
		a.crash(t)
		sleepUntil(5300 * time.Millisecond)
		oldest.crash(t)
		a.registry.Expire()
		sleepUntil(5500 * time.Millisecond)
		c.onServer(2, "a", 0, nil, makeUpAll(1))
		sleepUntil(6 * time.Second)
		next.stop(t)
		sleepUntil(20500 * time.Millisecond)
		requireEachFire(t, c.take(), 1, 1, 20)
	})
}

// Who leaves tells it once more if the registry refuses the notes at first, also when the time for telling is over by then.
func TestWhoLeavesIsRefusedAtFirst(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		owner := c.onServer(0, "owner", 0, nil, makeUpAll(4))
		guard := &guarded{Registry: c.server.Open("test")}
		s, err := scheduler.New(guard, scheduler.WithInstanceID("10.0.0.1@-@leaves"))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), makeUpAll(4), c.record("leaves", nil))))
		leaves := c.run(s, guard.Registry)
		<-leaves.Ready()
		sleepUntil(4500 * time.Millisecond)
		owner.crash(t)
		sleepUntil(6500 * time.Millisecond)
		c.onServer(2, "new", 0, nil, makeUpAll(4))
		sleepUntil(7500 * time.Millisecond)
		guard.deny(func(txn registry.Txn) bool {
			return slices.ContainsFunc(txn.Then, func(w registry.Write) bool {
				name, is := jobtree.Parse(w.Path)
				return is && name.Kind == jobtree.KindItemMisfire
			})
		})
		time.AfterFunc(300*time.Millisecond, func() { guard.deny(nil) })
		leaves.stop(t)
		sleepUntil(49500 * time.Millisecond)
		requireEachFire(t, c.take(), 4, 1, 49)
	})
}

// Who leaves tells what the items of others missed, whoever is registered: an owner may have died, and its session not be over
// yet, and so may somebody who was there before. An owner that lives and is busy runs each fire once, told or not.
func TestWhoLeavesTellsWhatADeadOwnersItemsMissed(t *testing.T) {
	t.Parallel()
	once, all, claimed := makeUpAll(4), makeUpAll(4), makeUpAll(4)
	once.Cron, once.Misfire, once.MisfireMax = "2,5,50 * * * * ?", job.MisfireOnce, 0
	claimed.Failover = true
	for name, cfg := range map[string]job.Config{"once": once, "all": all, "all, with failover": claimed} {
		for story, play := range map[string]func(t *testing.T, c *cluster){
			"its session goes on": func(t *testing.T, c *cluster) {
				owner := c.onServer(0, "owner", 0, nil, cfg)
				leaves := c.onServer(1, "leaves", 0, nil, cfg)
				sleepUntil(4500 * time.Millisecond)
				owner.crash(t)
				sleepUntil(6500 * time.Millisecond)
				c.onServer(2, "new", 0, nil, cfg)
				sleepUntil(7500 * time.Millisecond)
				leaves.stop(t)
			},
			"nobody is there for a while": func(t *testing.T, c *cluster) {
				owner := c.onServer(0, "owner", 0, nil, cfg)
				leaves := c.onServer(1, "leaves", 0, nil, cfg)
				sleepUntil(4500 * time.Millisecond)
				owner.crash(t)
				sleepUntil(7400 * time.Millisecond)
				leaves.stop(t)
				sleepUntil(7600 * time.Millisecond)
				c.onServer(2, "new", 0, nil, cfg)
			},
			"another one that is dead was there for longer": func(t *testing.T, c *cluster) {
				oldest := c.onServer(0, "oldest", 0, nil, cfg)
				owner := c.onServer(1, "owner", 0, nil, cfg)
				leaves := c.onServer(2, "leaves", 0, nil, cfg)
				sleepUntil(4500 * time.Millisecond)
				oldest.crash(t)
				owner.crash(t)
				sleepUntil(6500 * time.Millisecond)
				c.onServer(3, "new", 0, nil, cfg)
				sleepUntil(7500 * time.Millisecond)
				leaves.stop(t)
			},
			"it lives and is busy": func(t *testing.T, c *cluster) {
				var busy atomic.Bool
				c.onServer(0, "owner", 0, func(context.Context, job.ShardingContext) error {
					if busy.CompareAndSwap(false, true) {
						time.Sleep(9 * time.Second)
					}
					return nil
				}, cfg)
				leaves := c.onServer(1, "leaves", 0, nil, cfg)
				sleepUntil(7500 * time.Millisecond)
				leaves.stop(t)
			},
		} {
			t.Run(name+"/"+story, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					play(t, c)
					sleepUntil(49500 * time.Millisecond)
					if runs := c.take(); cfg.Misfire == job.MisfireAll {
						requireEachFire(t, runs, 4, 1, 49)
					} else {
						requireEachFire(t, runs, 4, 5, 5)
					}
				})
			})
		}
	}
}

// All sessions end while the registry is away, and one instance dies. When it is back, an instance that has started meanwhile
// registers before those that were there: it is the oldest now, and knows the least.
func TestFiresOfAnOutageAfterWhichANewInstanceIsTheOldest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		witnesses int
		late      time.Duration // so long after the new instance they register
	}{
		"one witness":          {witnesses: 1, late: 200 * time.Millisecond},
		"two witnesses":        {witnesses: 2, late: 200 * time.Millisecond},
		"three witnesses":      {witnesses: 3, late: 400 * time.Millisecond},
		"before it, as a rule": {witnesses: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := makeUpAll(4)
				var witnesses []*instance
				for n := range test.witnesses {
					witnesses = append(witnesses, c.onServer(n+1, "witness", time.Duration(n)*time.Millisecond, nil, cfg))
				}
				dies := c.onServer(8, "dies", 0, nil, cfg)
				sleepUntil(10500 * time.Millisecond)
				c.server.Stop()
				for _, w := range witnesses {
					w.registry.Cut()
				}
				dies.crash(t)
				sleepUntil(30500 * time.Millisecond)
				c.server.Start()
				if test.late == 0 {
					for _, w := range witnesses {
						w.registry.Heal()
					}
					time.Sleep(50 * time.Millisecond)
				}
				time.Sleep(6 * time.Second) // the sessions of those who were there are over
				c.onServer(9, "new", 0, nil, cfg)
				time.Sleep(test.late)
				for _, w := range witnesses {
					w.registry.Heal()
				}
				sleepUntil(60500 * time.Millisecond)
				requireEachFire(t, c.take(), 4, 1, 60)
			})
		})
	}
}

// All sessions end in an outage, and all come back at once: any of them may be new to the others, and all have the same to tell
// of many items. A store that is slow is not asked to take all of that from each.
func TestManyTellOfAnOutage(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const items, processes = 400, 12
		cfg := job.Config{Name: "orders", Cron: "*/10 * * * * ?", ShardingTotalCount: items, Misfire: job.MisfireAll}
		var all []*instance
		for n := range processes {
			all = append(all, c.onServer(n+1, "i", 3*time.Millisecond+time.Duration(n)*time.Microsecond, nil, cfg))
		}
		c.server.SetPace(1000, 0)
		sleepUntil(35500 * time.Millisecond)
		c.take()
		for _, i := range all {
			i.registry.Cut()
		}
		sleepUntil(53500 * time.Millisecond) // the fires of seconds 40 and 50 are missed
		before := c.server.Stats().Transactions
		for _, i := range all {
			i.registry.Heal()
		}
		sleepUntil(59500 * time.Millisecond)
		ran := firesOf(c.take())
		for n := range items {
			require.Equal(t, map[int]int{40: 1, 50: 1}, ran[n], "item %d", n)
		}
		// A note, two begins and two ends of each item, and notes of others that came too late.
		require.Less(t, c.server.Stats().Transactions-before, 10*items)
	})
}

// The oldest instance, which has ticked the most, stands still while its session goes on. The next one tells what it knows.
func TestFiresOfAnItemWhileTheOldestInstanceStandsStill(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := makeUpAll(1)
		cfg.Failover = true
		oldest := c.onServer(0, "oldest", 0, nil, cfg)
		c.onServer(1, "next", 0, nil, cfg)
		busy := c.onServer(8, "busy", 0, slowOnce(10*time.Second), cfg)
		sleepUntil(7200 * time.Millisecond)
		oldest.registry.Pause()
		remove(t, c.server, ofOrders.Leader())
		sleepUntil(7500 * time.Millisecond)
		c.onServer(9, "new", 0, nil, cfg)
		sleepUntil(7800 * time.Millisecond)
		leader := c.state().Leader.Instance
		busy.crash(t)
		busy.registry.Expire()
		sleepUntil(11500 * time.Millisecond)
		owners, runs := c.owners(), c.take()
		oldest.registry.Resume()
		sleepUntil(20 * time.Second) // for what is busy
		require.Equal(t, "10.0.0.1@-@next", leader)
		require.Equal(t, map[string]int{"10.0.0.9@-@new": 1}, owners)
		requireEachFire(t, runs, 1, 1, 11)
	})
}

// So do the fires of so many items that a resharding is written in parts: the transaction that puts it into force names none
// of them.
func TestFiresOfManyItemsThatLostTheirOwner(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const items = 360
		cfg := makeUpAll(items)
		witness := c.onServer(0, "witness", 0, nil, cfg)
		a := c.onServer(1, "a", 0, nil, cfg)
		sleepUntil(5500 * time.Millisecond)
		a.crash(t)
		witness.registry.SetLatency(60 * time.Millisecond) // its note comes later than the items
		sleepUntil(8700 * time.Millisecond)
		c.onServer(2, "b", 0, nil, cfg)
		sleepUntil(16500 * time.Millisecond)
		fires := firesOf(c.take())
		var lost []string
		for n := range items {
			for second := 1; second <= 16; second++ {
				if ran := fires[n][second]; ran != 1 {
					lost = append(lost, fmt.Sprintf("item %d, fire %d: %d", n, second, ran))
				}
			}
		}
		require.Empty(t, lost[:min(20, len(lost))], "%d of them", len(lost))
	})
}

// A new owner waits a moment for what others may tell of fires that it has not ticked, and no longer because it runs a
// lost execution of the item again meanwhile: when that is over it makes up at once what came.
func TestAnOwnerDoesNotWaitAnewAfterARerun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := makeUpAll(1)
		cfg.Failover = true
		a := c.onServer(1, "a", 0, slowOnce(20*time.Second), cfg)
		sleepUntil(7500 * time.Millisecond)
		a.crash(t)
		sleepUntil(9500 * time.Millisecond) // nobody ticks the fires of seconds 8 and 9
		c.onServer(0, "older", 0, nil, cfg)
		c.onServer(2, "b", 0, slowOnce(5*time.Second), cfg)
		sleepUntil(30500 * time.Millisecond)
		runs := c.take()
		rerun := slices.IndexFunc(runs, func(r run) bool { return r.sc.Source == job.Failover })
		require.NotEqual(t, -1, rerun)
		require.GreaterOrEqual(t, runs[rerun].ended.Sub(runs[rerun].began), 5*time.Second, "several fires came meanwhile")
		next := runs[rerun+1]
		require.Equal(t, job.Misfire, next.sc.Source)
		require.Less(t, next.began.Sub(runs[rerun].ended), 100*time.Millisecond, "of %v", runs)
		requireEachFire(t, runs, 1, 10, 30)
	})
}

// Fires that nobody who lives has ticked are waited for no longer than a moment.
func TestFiresThatNobodyCanTellOf(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.onServer(1, "a", 0, nil, makeUpAll(1))
		sleepUntil(5500 * time.Millisecond)
		a.crash(t)
		sleepUntil(8500 * time.Millisecond)
		c.onServer(0, "leader", 0, nil, makeUpAll(1))
		sleepUntil(9500 * time.Millisecond)
		c.onServer(2, "b", 0, nil, makeUpAll(1))
		sleepUntil(20500 * time.Millisecond)
		runs := c.take()
		requireEachFire(t, runs, 1, 9, 20)
		require.Equal(t, map[string]int{"10.0.0.2@-@b": 1}, c.owners())
	})
}

// The same with one run for all: of a job that fires seldom, no later fire stands for the missed one.
func TestARareFireOfAnItemThatLostItsOwner(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]func(t *testing.T, witness *instance){
		"somebody tells": func(*testing.T, *instance) {},
		"and goes":       func(t *testing.T, witness *instance) { witness.stop(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := job.Config{Name: "orders", Cron: "2,7 0 0 * * ?", ShardingTotalCount: 1}
				witness := c.onServer(0, "witness", 0, nil, cfg)
				a := c.onServer(1, "a", 0, nil, cfg)
				sleepUntil(5500 * time.Millisecond)
				a.crash(t)
				sleepUntil(8500 * time.Millisecond)
				c.onServer(2, "b", 0, nil, cfg)
				last(t, witness)
				sleepUntil(30500 * time.Millisecond)
				require.Equal(t, []string{"item 0 fire 2s scheduled on a", "item 0 fire 7s misfire on b"}, c.shown())
			})
		})
	}
}

// Nobody may note anything while the configuration cannot be read. If it comes to be so before the new owner of an item was
// told what that has missed, it is told when the job goes on, and has waited for it.
func TestANewOwnerIsToldAfterAPause(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "2,7,10 0 0 * * ?", ShardingTotalCount: 1, Misfire: job.MisfireAll}
		witness := c.onServer(0, "witness", 0, nil, cfg)
		a := c.onServer(1, "a", 0, nil, cfg)
		sleepUntil(5500 * time.Millisecond)
		a.crash(t)
		sleepUntil(8500 * time.Millisecond)
		witness.registry.SetLatency(60 * time.Millisecond)
		c.onServer(2, "b", 0, nil, cfg)
		for c.state().Owner(0) != "10.0.0.2@-@b" {
			time.Sleep(time.Millisecond)
		}
		witness.registry.SetLatency(2 * time.Second) // its note comes later than what follows
		sleepUntil(10100 * time.Millisecond)
		put(t, c.server, "/orders/config", "oops")
		sleepUntil(20 * time.Second)
		witness.registry.SetLatency(60 * time.Millisecond)
		sleepUntil(28 * time.Second)
		c.change(cfg)
		sleepUntil(time.Minute)
		require.Equal(t, []string{"item 0 fire 2s scheduled on a", "item 0 fire 7s misfire on b", "item 0 fire 10s misfire on b"}, c.shown())
	})
}

// So it is if nothing else happens at the end of that moment: the owner does not make up what is due with the next event, which
// may be a fire long afterwards.
func TestAnOwnerThatWasToldNothingGoesOnByItself(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := makeUpAll(1)
		cfg.Cron = "0 0/30 * * * ?"
		first := c.start("first", nil, cfg)
		sleepUntil(31 * time.Minute)
		first.stop(t)
		sleepUntil(61 * time.Minute) // nobody ticks the fire of that hour
		c.onServer(0, "older", 0, nil, cfg)
		c.onServer(1, "b", 0, nil, cfg)
		last := c.onServer(2, "c", 0, nil, cfg)
		sleepUntil(90*time.Minute - time.Second)
		require.Equal(t, "10.0.0.2@-@c", c.state().Owner(0))
		c.take()
		last.crash(t)
		for c.state().Owner(0) != "10.0.0.1@-@b" && time.Since(bubbleStart) < 91*time.Minute {
			time.Sleep(100 * time.Millisecond)
		}
		came := time.Now()
		require.True(t, came.After(bubbleStart.Add(90*time.Minute)), "after the fire")
		sleepUntil(100 * time.Minute)
		runs := c.take()
		require.Len(t, runs, 1)
		require.Equal(t, "item 0 fire 1h30m0s misfire on b", runs[0].String())
		require.WithinDuration(t, came.Add(2*time.Second), runs[0].began, 200*time.Millisecond)
	})
}

// The same when nobody can give the item away for minutes, and the witness tells late.
func TestAnItemThatHadNoOwnerForLong(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := makeUpAll(1)
		cfg.Cron = "2,7 0/5 * * * ?"
		witness := c.onServer(0, "witness", 0, nil, cfg)
		a := c.onServer(1, "a", 0, nil, cfg)
		sleepUntil(5500 * time.Millisecond)
		a.crash(t)
		sleepUntil(7500 * time.Millisecond)
		stopped := cfg
		stopped.Disabled = true
		c.change(stopped)
		sleepUntil(20 * time.Second)
		c.onServer(2, "b", 0, nil, cfg)
		witness.registry.SetLatency(300 * time.Millisecond)
		sleepUntil(5*time.Minute + 1600*time.Millisecond)
		c.change(cfg)
		sleepUntil(6 * time.Minute)
		var fires []time.Duration
		for _, r := range c.take() { // that of 5m2s is on time or made up, as the leader is the one or the other
			fires = append(fires, r.sc.Fire.Sub(bubbleStart))
		}
		require.Equal(t, []time.Duration{
			2 * time.Second, 7 * time.Second, 5*time.Minute + 2*time.Second, 5*time.Minute + 7*time.Second,
		}, fires)
	})
}

// Somebody notes missed fires of an item in the moment in which its execution ends.
func TestAnEndKeepsWhatOthersNoted(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := job.Config{Name: "orders", Cron: "5,6,7,40 0 0 * * ?", ShardingTotalCount: 1}
		cfg.Misfire = job.MisfireAll
		c.onServer(1, "a", 200*time.Millisecond, slowOnce(3*time.Second), cfg)
		sleepUntil(8500 * time.Millisecond) // the end is on its way
		state := c.state().Item(0)
		require.True(t, state.Running.Exists())
		noted := jobtree.Misfire{Fires: jobtree.MissedFires(bubbleStart.Add(6 * time.Second))}
		put(t, c.server, "/orders/sharding/0/misfire", jobtree.EncodeMisfire(noted))
		sleepUntil(30 * time.Second)
		require.Equal(t, []string{
			"item 0 fire 5s scheduled on a", "item 0 fire 6s misfire on a", "item 0 fire 7s misfire on a",
		}, c.shown())
		require.Equal(t, jobtree.Counts{Success: 3}, c.state().Item(0).Record.Value.Counts)
	})
}

// notedFirst is a registry in which others are quicker than each end of an item.
type notedFirst struct {
	*memory.Registry
	before func()
}

func (r notedFirst) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	for _, txn := range txns {
		if slices.Contains(txn.Then, registry.Delete(orders.ItemRunning(0))) {
			r.before()
		}
	}
	return r.Registry.CommitAll(ctx, txns)
}

// After an outage one instance after the other notes what it knows, each just before an execution ends. It ends well.
func TestAnEndOutlastsManyNotes(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const others = 6
		notes := 0
		reg := notedFirst{c.server.Open("test"), func() {
			if notes++; notes > others {
				return
			}
			fires := make([]time.Time, notes)
			for n := range fires {
				fires[n] = bubbleStart.Add(time.Duration(5*(n+2)) * time.Second)
			}
			put(t, c.server, orders.ItemMisfire(0), jobtree.EncodeMisfire(jobtree.Misfire{Fires: jobtree.MissedFires(fires...)}))
		}}
		cfg := job.Config{Name: "orders", Cron: everyFive, ShardingTotalCount: 1, Misfire: job.MisfireAll, Failover: true}
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), cfg, c.record("a", slowOnce(39*time.Second)))))
		c.run(s, reg.Registry)
		sleepUntil(48 * time.Second)
		require.Greater(t, notes, others)
		require.NotContains(t, strings.Join(c.shown(), "\n"), "failover")
		require.Zero(t, c.state().Item(0).Record.Value.Counts.Interrupted)
	})
}

// Somebody begins an item who does not know of a fire before, and takes that back. Who gets the item then ticked that
// fire, and makes it up, whatever the item's record said when it came.
func TestFiresThatABeginPassedOverBeforeItWasTakenBack(t *testing.T) {
	t.Parallel()
	const other = "10.0.0.3@-@c"
	for name, moves := range map[string]time.Duration{ // the begin stands from 12.1 to 12.6 seconds
		"the item moves while the begin stands": 12300 * time.Millisecond,
		"it moves after the next fire":          13300 * time.Millisecond,
		"it moves at once":                      12600 * time.Millisecond,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.onServer(1, "b", 0, nil, makeUpAll(1))
				sleepUntil(10200 * time.Millisecond)
				tree, hand := jobtree.For("orders"), c.server.Open("test")
				session, err := hand.Session(t.Context())
				require.NoError(t, err)
				commit := func(conditions []registry.Condition, writes ...registry.Write) registry.Revision {
					revision, err := hand.Commit(t.Context(), registry.Txn{If: conditions, Then: writes})
					require.NoError(t, err)
					return revision
				}
				commit(nil, registry.PutOwned(tree.Instance(other), "", session), registry.Put(tree.Necessary(), ""))
				sleepUntil(12100 * time.Millisecond)
				require.Equal(t, map[string]int{other: 1}, c.owners())
				begun, err := c.state().Record(0).Value.Begin(jobtree.Begin{
					Instance: other, Session: session.ID(), Source: job.Scheduled, Fire: bubbleStart.Add(12 * time.Second), Time: time.Now(),
				})
				require.NoError(t, err)
				token := commit(nil, registry.PutOwned(tree.ItemRunning(0), other, session), registry.Put(tree.ItemRecord(0), jobtree.EncodeRecord(begun)))
				undo := func() {
					undone, err := begun.Undo(int64(token), time.Now())
					require.NoError(t, err)
					end := executions.End(c.state(), 0, token, job.Scheduled, undone)
					commit(end.If, end.Then...)
				}
				if moves < 12600*time.Millisecond {
					sleepUntil(moves)
					c.disable(3, true)
				}
				sleepUntil(12600 * time.Millisecond)
				require.Equal(t, bubbleStart.Add(12*time.Second), c.state().Record(0).Value.LastFire, "it stands")
				undo()
				if moves >= 12600*time.Millisecond {
					sleepUntil(moves)
					c.disable(3, true)
				}
				sleepUntil(20500 * time.Millisecond)
				require.NoError(t, hand.Close(t.Context()))
				runs := c.take()
				requireEachFire(t, runs, 1, 1, 20)
				for i := 1; i < len(runs); i++ {
					require.True(t, runs[i].sc.Fire.After(runs[i-1].sc.Fire), "in order, of %v", runs)
				}
			})
		})
	}
}

// What an item had missed when it was disabled is made up when it is enabled; what came meanwhile is not.
func TestFiresOfADisabledItem(t *testing.T) {
	t.Parallel()
	for name, moves := range map[string]bool{"it stays": false, "it moves": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := makeUpAll(1)
				c.onServer(1, "a", 0, slowOnce(3*time.Second), cfg)
				sleepUntil(7500 * time.Millisecond) // has missed those of seconds 6 and 7
				disabled := jobtree.For("orders").ItemDisabled(0)
				put(t, c.server, disabled, "")
				sleepUntil(10500 * time.Millisecond)
				if moves {
					c.onServer(2, "b", 0, nil, cfg)
				}
				sleepUntil(12500 * time.Millisecond)
				reg := c.server.Open("test")
				_, err := reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(disabled)}})
				require.NoError(t, err)
				require.NoError(t, reg.Close(context.Background()))
				sleepUntil(20500 * time.Millisecond)
				fires := firesOf(c.take())[0]
				for second := 1; second <= 20; second++ {
					want := 1
					if second > 7 && second < 13 {
						want = 0
					}
					require.Equal(t, want, fires[second], "second %d: %v", second, fires)
				}
			})
		})
	}
}

// What was missed under other times is forgotten, also where it is noted.
func TestMissedFiresOfAnotherCron(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := makeUpAll(1)
		a := c.onServer(1, "a", 0, slowOnce(3*time.Second), cfg)
		sleepUntil(7500 * time.Millisecond)
		a.stop(t)
		cfg.Cron = "0/2 * * * * ?"
		c.change(cfg)
		require.True(t, c.state().Item(0).Misfire.Exists(), "it has missed fires of the same instants")
		sleepUntil(15500 * time.Millisecond)
		c.take()
		c.onServer(2, "b", 0, nil, cfg)
		sleepUntil(20500 * time.Millisecond)
		require.Equal(t, []string{
			"item 0 fire 16s scheduled on b", "item 0 fire 18s scheduled on b", "item 0 fire 20s scheduled on b",
		}, c.shown())
	})
}

// With one run for all, the newest of the fires that came while an item ran is made up wherever the item
// is by then, and with MisfireSkip none is.
func TestTheNewestMissedFireTravels(t *testing.T) {
	t.Parallel()
	cron := "5,7,9,40 0 0 * * ?"
	for name, test := range map[string]struct {
		change func(*job.Config)
		want   string
	}{
		"once": {func(*job.Config) {}, "item 0 fire 9s misfire on b"},
		"off":  {func(cfg *job.Config) { cfg.Misfire = job.MisfireSkip }, "item 0 fire 40s scheduled on b"},
	} {
		for how, move := range map[string]func(t *testing.T, a *instance, start func() *instance){
			"moved":   func(_ *testing.T, _ *instance, start func() *instance) { start() },
			"stopped": func(t *testing.T, a *instance, start func() *instance) { start(); a.stop(t) },
			"alone":   func(t *testing.T, a *instance, start func() *instance) { a.stop(t); start() },
		} {
			t.Run(name+", "+how, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) {
					cfg := job.Config{Name: "orders", Cron: cron, ShardingTotalCount: 1}
					test.change(&cfg)
					a := c.onServer(1, "a", 0, slowOnce(10*time.Second), cfg)
					sleepUntil(10500 * time.Millisecond)
					move(t, a, func() *instance { return c.onServer(2, "b", 0, nil, cfg) })
					sleepUntil(50 * time.Second)
					runs := c.shown()
					require.Greater(t, len(runs), 1)
					require.Equal(t, test.want, runs[1], "%v", runs)
					require.False(t, c.state().Item(0).Misfire.Exists())
				})
			})
		}
	}
}

// chaos does at random what loses no fire: processes join and stop, servers are disabled and enabled, and
// leaders die while somebody else lives who ticked what they did.
type chaos struct {
	*cluster
	rand    *rand.Rand
	mu      sync.Mutex // of what code draws
	draws   *rand.Rand // for the durations of runs
	cfg     job.Config
	members []*member
	started int
}

type member struct {
	*instance
	server   int
	disabled bool
	since    time.Time // when it joined, or was enabled
}

func seeded(seed, use uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, use)) //nolint:gosec // what is drawn can be drawn again
}

func (ch *chaos) work(context.Context, job.ShardingContext) error {
	ch.mu.Lock()
	kind, share := ch.draws.IntN(20), ch.draws.Float64()
	ch.mu.Unlock()
	switch kind {
	case 0:
		time.Sleep(time.Duration(share * float64(7*time.Second)))
	case 1, 2, 3:
		time.Sleep(time.Duration(share * float64(time.Second)))
	}
	return nil
}

func (ch *chaos) join() {
	ch.started++
	server := ch.rand.IntN(9*ch.started) + 1 // so that ids are not in the order in which they came
	for used := true; used; {
		used = false
		for _, m := range ch.members {
			used = used || m.server == server
		}
		if used {
			server++
		}
	}
	oneWay := time.Duration(ch.rand.IntN(25)) * time.Millisecond
	ch.disable(server, false)
	i := ch.onServer(server, fmt.Sprint(ch.started), oneWay, ch.work, ch.cfg)
	ch.members = append(ch.members, &member{instance: i, server: server, since: time.Now()})
}

// spared tells whether enough are left that may run items, if m does not any more, and of those one that
// has been there for a time.
func (ch *chaos) spared(m *member, atLeast time.Duration) bool {
	for _, other := range ch.members {
		if other != m && !other.disabled && time.Since(other.since) >= atLeast {
			return true
		}
	}
	return false
}

func (ch *chaos) remove(m *member) {
	for i, other := range ch.members {
		if other == m {
			ch.members = append(ch.members[:i], ch.members[i+1:]...)
			return
		}
	}
}

func (ch *chaos) step(t *testing.T) string {
	m := ch.members[ch.rand.IntN(len(ch.members))]
	switch ch.rand.IntN(6) {
	case 0, 1:
		if len(ch.members) < 5 {
			ch.join()
			return "joined " + ch.members[len(ch.members)-1].ID()
		}
	case 2:
		if ch.spared(m, 0) {
			ch.remove(m)
			m.stop(t)
			return "stopped " + m.ID()
		}
	case 3:
		if !m.disabled && ch.spared(m, 0) {
			m.disabled = true
			ch.disable(m.server, true)
			return "disabled " + m.ID()
		}
	case 4:
		if m.disabled {
			m.disabled, m.since = false, time.Now()
			ch.disable(m.server, false)
			return "enabled " + m.ID()
		}
	case 5:
		leader := ch.state().Leader.Instance
		for _, m := range ch.members {
			if m.ID() == leader && ch.spared(m, 40*time.Second) {
				ch.remove(m)
				m.crash(t)
				return "crashed " + m.ID()
			}
		}
	}
	return ""
}

func (m *member) ID() string { return m.InstanceID() }

// Nothing but joins, graceful stops, disabled servers and dead leaders loses a fire, or runs one twice.
func TestNoFireIsLost(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				const items, last = 4, 150
				ch := &chaos{cluster: c, cfg: makeUpAll(items), rand: seeded(seed, 1), draws: seeded(seed, 2)}
				ch.cfg.Failover = true
				ch.join()
				sleepUntil(2500 * time.Millisecond)
				var did []string
				for time.Since(bubbleStart) < last*time.Second {
					time.Sleep(time.Duration(ch.rand.IntN(4000)) * time.Millisecond)
					if what := ch.step(t); what != "" {
						did = append(did, fmt.Sprintf("%s %s", time.Since(bubbleStart), what))
					}
				}
				sleepUntil((last + 40) * time.Second)
				fires := firesOf(c.take())
				var wrong []string
				for n := range items {
					for second := 3; second <= last; second++ {
						if fires[n][second] != 1 {
							wrong = append(wrong, fmt.Sprintf("item %d, second %d: %d times", n, second, fires[n][second]))
						}
					}
				}
				require.Empty(t, wrong, strings.Join(did, "\n"))
			})
		})
	}
}

// A misfire window reaches back by the clock. It does not reach to fires that were none, and not to those that somebody has
// run for whom no record tells of.
func TestAWindowDoesNotReachToFiresThatWereNone(t *testing.T) {
	t.Parallel()
	fires := func(runs []run, item int) (of []time.Duration) {
		for _, r := range runs {
			if r.sc.Item == item {
				of = append(of, r.sc.Fire.Sub(bubbleStart))
			}
		}
		return of
	}
	five, minutes := 5*time.Second, 10*time.Minute
	windowed := func(cron string) job.Config {
		cfg := job.Config{Name: "orders", Cron: cron, ShardingTotalCount: 2}
		cfg.Misfire, cfg.MisfireWindow = job.MisfireAll, time.Hour
		return cfg
	}
	between := func(c *cluster, cfg job.Config, from, until time.Duration, change func(*job.Config)) {
		other := cfg
		change(&other)
		sleepUntil(from)
		c.change(other)
		sleepUntil(until)
		c.change(cfg)
	}
	for name, test := range map[string]struct {
		cfg   job.Config
		story func(c *cluster, cfg job.Config, a *instance)
		want  []time.Duration // fires that item 1 runs for
	}{
		"the job was disabled, and somebody joined meanwhile": {windowed(everyFive), func(c *cluster, cfg job.Config, _ *instance) {
			stopped := cfg
			stopped.Disabled = true
			sleepUntil(11 * time.Second)
			c.change(stopped)
			sleepUntil(12 * time.Second)
			c.start("b", nil, cfg)
			sleepUntil(26 * time.Second)
			c.change(cfg)
			sleepUntil(31 * time.Second)
		}, []time.Duration{five, 2 * five, 6 * five}},
		"the job was disabled, and the item moves afterwards": {windowed(everyFive), func(c *cluster, cfg job.Config, a *instance) {
			c.start("b", nil, cfg)
			between(c, cfg, 11*time.Second, 26*time.Second, func(other *job.Config) { other.Disabled = true })
			sleepUntil(27 * time.Second)
			a.crash(c.t)
			sleepUntil(46 * time.Second)
		}, []time.Duration{five, 2 * five, 6 * five, 7 * five, 8 * five, 9 * five}},
		"the cron was another": {windowed("3 0/10 * * * ?"), func(c *cluster, cfg job.Config, a *instance) {
			c.start("b", nil, cfg)
			cfg.Cron = "0 0/2 * * * ?"
			sleepUntil(minutes/2 + time.Second)
			c.change(cfg)
			sleepUntil(minutes/2 + 10*time.Second)
			a.stop(c.t)
			sleepUntil(minutes/2 + 62*time.Second)
		}, []time.Duration{3 * time.Second, 6 * time.Minute}},
		"nothing was recorded": {windowed(everyFive), func(c *cluster, cfg job.Config, a *instance) {
			c.start("b", nil, cfg)
			between(c, cfg, 6*time.Second, 21*time.Second, func(other *job.Config) { other.Unmonitored = true })
			sleepUntil(22 * time.Second)
			a.stop(c.t)
			sleepUntil(26 * time.Second)
		}, []time.Duration{five, 2 * five, 3 * five, 4 * five, 5 * five}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.t = t
				a := c.start("a", nil, test.cfg)
				test.story(c, test.cfg, a)
				runs := c.take()
				for item := range 2 {
					require.Equal(t, test.want, fires(runs, item), "item %d", item)
				}
			})
		})
	}
}
