package scheduler_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/careless"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// What a careless hand does to any node of the tree, while items run and while they do not, is put right:
// soon after, all items run on schedule again, and nothing overlaps. A deed that an operator may mean, and
// what is borrowed for a session, is over when it is undone.
func TestTheTreeHealsFromAnySingleDeed(t *testing.T) {
	t.Parallel()
	for at, when := range map[time.Duration]string{6 * time.Second: "during a run", 8 * time.Second: "at rest"} {
		for i, d := range careless.Deeds("orders", fullID("a"), 1) {
			t.Run(fmt.Sprintf("%s/%d/%s", when, i, strings.ReplaceAll(d.String(), "/", ".")), func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(t *testing.T, c *cluster) { healed(t, c, at, d) })
			})
		}
	}
}

func healed(t *testing.T, c *cluster, at time.Duration, d careless.Deed) {
	cfg := jobOf(3)
	cfg.Failover = true
	hook := func(context.Context, job.WholeRound) error { return nil }
	once := scheduler.WithWholeRoundListener(job.WholeRoundListener{AllCompleted: hook, CompletedWithin: time.Minute})
	for _, id := range []string{"a", "b"} {
		<-c.launchWith(id, takes(1500*time.Millisecond), nil, []scheduler.JobOption{once}, cfg).Ready()
	}
	sleepUntil(at)
	hand := c.server.Open("test", memory.WithTTL(10*time.Second))
	before, err := hand.Get(t.Context(), d.Path)
	if err != nil {
		require.ErrorIs(t, err, registry.ErrNotFound)
	}
	require.NoError(t, d.Do(t.Context(), hand))
	sleepUntil(12 * time.Second)
	hand.Vanish() // its session ends at 22 s at the latest
	if d.Intent() {
		sleepUntil(23 * time.Second)
		hand = c.server.Open("test")
		require.NoError(t, d.Undo(t.Context(), hand, before))
		require.NoError(t, hand.Close(t.Context()))
	}
	sleepUntil(44 * time.Second)
	all := c.take()
	sleepUntil(54 * time.Second)
	late := c.take()
	ran := make(map[string]int)
	for _, r := range late {
		if r.sc.Source == job.Scheduled {
			ran[fmt.Sprintf("item %d fire %s", r.sc.Item, r.sc.Fire.Sub(bubbleStart))]++
		}
	}
	for item := range 3 {
		for fire := 45 * time.Second; fire <= 50*time.Second; fire += 5 * time.Second {
			require.Equal(t, 1, ran[fmt.Sprintf("item %d fire %s", item, fire)], "item %d, fire %s: %v", item, fire, late)
		}
	}
	all = append(all, late...)
	for i, x := range all {
		for _, y := range all[i+1:] {
			overlap := x.sc.Item == y.sc.Item && x.began.Before(y.ended) && y.began.Before(x.ended)
			require.False(t, overlap, "%s and %s", x, y)
		}
	}
	s := c.state()
	require.Len(t, s.Instances, 2)
	for n := range 3 {
		require.Equal(t, jobtree.Success, s.Item(n).Record.Value.Current.Outcome)
	}
}

// A node that the end of an execution writes, and that a foreign session holds, is not in its way: the
// execution has finished, and is not run again when its session is over.
func TestAnEndGetsThroughToNodesOfForeignSessions(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{"misfire": orders.ItemMisfire(0), "record": orders.ItemRecord(0)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := failoverOf(1)
				cfg.Cron, cfg.Misfire = "0/15 * * * * ?", job.MisfireAll
				a := c.start("a", takes(20*time.Second), cfg)
				sleepUntil(34990 * time.Millisecond) // it has missed the fire of 30 s
				hand := c.server.Open("test", memory.WithTTL(10*time.Second))
				defer hand.Vanish()
				borrow := careless.Deed{Act: careless.Borrow, Path: path, Value: "}{"}
				a.registry.SetLatency(100 * time.Millisecond)
				sleepUntil(35050 * time.Millisecond) // the end is under way
				require.NoError(t, borrow.Do(t.Context(), hand))
				sleepUntil(38 * time.Second)
				require.NotEqual(t, "}{", stored(t, c.server)[path])
				a.registry.SetLatency(0)
				a.crash(t)
				c.start("b", takes(20*time.Second), cfg)
				sleepUntil(59 * time.Second)
				require.NotContains(t, c.shown(), "item 0 fire 15s failover on b")
			})
		})
	}
}

// An item whose record cannot be read goes on with its next fire, and the text is kept. One of a newer
// format is left alone.
func TestARecordThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for text, goesOn := range map[string]bool{`{"state":"idle"`: true, "\xff": true, `{"format":3,"state":"better"}`: false, `{"format":2,"state":"idle"}`: true, `{"format":1,"state":"idle"}`: true} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				c.start("a", nil, jobOf(1))
				sleepUntil(8 * time.Second)
				c.take()
				put(t, c.server, orders.ItemRecord(0), strings.ToValidUTF8(text, "?"))
				sleepUntil(21 * time.Second)
				if !goesOn {
					require.Empty(t, c.take())
					require.Equal(t, text, stored(t, c.server)[orders.ItemRecord(0)])
					put(t, c.server, orders.ItemRecord(0), `{"state":"idle"}`)
					sleepUntil(26 * time.Second)
					require.NotEmpty(t, c.take(), "it goes on")
					return
				}
				require.Equal(t, []string{"item 0 fire 10s scheduled on a", "item 0 fire 15s scheduled on a", "item 0 fire 20s scheduled on a"}, c.shown())
				if !strings.Contains(text, "format") {
					require.Equal(t, strings.ToValidUTF8(text, "?"), stored(t, c.server)[orders.ItemAside(0)])
				}
			})
		})
	}
}

// So does one where a foreign session holds the node in which the text is to be kept.
func TestARecordThatCannotBeReadBesideAForeignNode(t *testing.T) {
	t.Parallel()
	for _, cron := range []string{everyFive, "@delay 5s"} {
		t.Run(cron, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := jobOf(1)
				cfg.Cron = cron
				c.start("a", nil, cfg)
				sleepUntil(8 * time.Second)
				c.take()
				hand := c.server.Open("test", memory.WithTTL(time.Hour))
				defer hand.Vanish()
				borrow := careless.Deed{Act: careless.Borrow, Path: orders.ItemAside(0), Value: "mine"}
				require.NoError(t, borrow.Do(t.Context(), hand))
				put(t, c.server, orders.ItemRecord(0), "}{")
				sleepUntil(29 * time.Second)
				require.GreaterOrEqual(t, len(c.take()), 3, "it goes on")
				require.Equal(t, "}{", stored(t, c.server)[orders.ItemAside(0)])
			})
		})
	}
}

// A run whose mark was deleted goes on, is run by nobody else, saves its checkpoints, and has ended when
// it has; also if its process leaves at that moment and has not seen it.
func TestAMarkThatIsDeletedUnderARun(t *testing.T) {
	t.Parallel()
	for name, leaves := range map[string]bool{"stays": false, "leaves": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				var saved error
				b := c.start("b", func(ctx context.Context, _ job.ShardingContext) error {
					time.Sleep(12 * time.Second)
					saved = job.SaveOffset(ctx, "saved")
					return nil
				}, failoverOf(1))
				sleepUntil(6 * time.Second)
				c.start("a", nil, failoverOf(1))
				remove(t, c.server, orders.ItemRunning(0))
				if leaves {
					b.cancel()
				}
				sleepUntil(50 * time.Second)
				require.Equal(t, []string{"item 0 fire 5s scheduled on b"}, c.shown())
				require.NoError(t, saved)
				require.Equal(t, "saved", c.state().Item(0).Offset)
				require.Equal(t, jobtree.Counts{Success: 1}, c.state().Item(0).Record.Value.Counts)
			})
		})
	}
}

// A run whose mark was deleted when its process had left the job is lost to all others, who run it again. Its code is
// cancelled as soon as its process hears of that.
func TestAMarkThatIsDeletedAfterItsInstanceLeft(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var cause error
		var told time.Time
		work := func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Source == job.Failover {
				return nil
			}
			<-ctx.Done()
			cause, told = context.Cause(ctx), time.Now()
			return cause
		}
		b := c.start("b", work, failoverOf(1))
		sleepUntil(5500 * time.Millisecond)
		c.start("a", work, failoverOf(1))
		b.cancel()
		sleepUntil(8 * time.Second)
		require.Zero(t, c.state().Instance(fullID("b")).Created, "it has left")
		require.NoError(t, cause, "what runs goes on")
		remove(t, c.server, orders.ItemRunning(0))
		sleepUntil(9 * time.Second)
		require.ErrorIs(t, cause, registry.ErrSessionLost)
		require.Equal(t, []string{"item 0 fire 5s scheduled on b", "item 0 fire 5s failover on a"}, c.shown()[:2])
		require.WithinDuration(t, bubbleStart.Add(8*time.Second), told, 100*time.Millisecond)
	})
}

// A mark whose text somebody changed is its instance's by the record, also if that has not heard that it began: it ends
// what nobody runs, and the item goes on.
func TestAMarkThatIsAlteredBeforeItsBeginIsAnswered(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "}{", "10.9.9.9@-@nobody"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				a := c.start("a", nil, jobOf(1))
				sleepUntil(4999 * time.Millisecond)
				a.registry.LoseAnswers(1)
				sleepUntil(5001 * time.Millisecond)
				hand := c.server.Open("test")
				_, err := hand.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Update(orders.ItemRunning(0), text)}})
				require.NoError(t, err)
				require.NoError(t, hand.Close(t.Context()))
				sleepUntil(16 * time.Second)
				ran := c.shown()
				require.Contains(t, ran, "item 0 fire 10s scheduled on a")
				require.Contains(t, ran, "item 0 fire 15s scheduled on a")
				require.False(t, c.state().Item(0).Running.Exists())
			})
		})
	}
}

// An instance that leaves while something runs there whose mark was deleted stays registered until that has ended. All
// else it hands over at once, also to who joins meanwhile: a stop may take long.
func TestALeaveWhileAMarkIsDeleted(t *testing.T) {
	t.Parallel()
	for name, leave := range map[string]func(t *testing.T, c *cluster, i *instance){
		"stops":      func(_ *testing.T, _ *cluster, i *instance) { i.cancel() },
		"is told to": func(t *testing.T, c *cluster, _ *instance) { t.Helper(); askToLeave(t, c, "b") },
		"asked again": func(t *testing.T, c *cluster, i *instance) {
			t.Helper()
			i.cancel()
			time.Sleep(time.Second)
			triggerByValue(t, c, "b")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				first := func(_ context.Context, sc job.ShardingContext) error {
					if sc.Item == 0 && sc.Fire.Equal(bubbleStart.Add(5*time.Second)) {
						time.Sleep(16 * time.Second)
					}
					return nil
				}
				cfg := jobOf(3)
				cfg.Failover = true
				b := c.start("b", first, cfg)
				sleepUntil(6 * time.Second)
				remove(t, c.server, ofOrders.ItemRunning(0))
				sleepUntil(7 * time.Second)
				leave(t, c, b)
				sleepUntil(9 * time.Second)
				require.Zero(t, c.state().Leader.Created, "it leads no more")
				c.start("a", first, cfg)
				sleepUntil(9900 * time.Millisecond)
				require.Equal(t, map[string]int{fullID("a"): 3}, c.owners())
				require.Equal(t, fullID("a"), c.state().Leader.Instance)
				require.Zero(t, c.state().Necessary)
				sleepUntil(20 * time.Second)
				require.NotZero(t, c.state().Instance(fullID("b")).Created, "else what runs there would be lost")
				sleepUntil(26 * time.Second)
				require.Zero(t, c.state().Instance(fullID("b")).Created, "all has ended")
				require.Zero(t, c.state().Necessary)
				zero := 0
				for _, r := range c.take() {
					if r.sc.Item == 0 {
						zero++
						require.False(t, r.instance == "a" && r.began.Before(bubbleStart.Add(21*time.Second)), "two run at once: %s", r)
					} else if r.sc.Fire.After(bubbleStart.Add(9 * time.Second)) {
						require.Equal(t, "a", r.instance)
						require.WithinDuration(t, r.sc.Fire, r.began, time.Second)
					}
				}
				require.GreaterOrEqual(t, zero, 2, "the next fire of the item runs when it has ended")
				require.Zero(t, c.state().Item(0).Record.Value.Counts.Lost)
			})
		})
	}
}

// Missed fires that a session owns are in the way of whoever has some to note.
func TestMissedFiresBelongToNoSession(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(1))
		sleepUntil(6 * time.Second)
		hand := c.server.Open("test")
		defer hand.Vanish()
		borrow := careless.Deed{Act: careless.Borrow, Path: orders.ItemMisfire(0), Value: "}{"}
		require.NoError(t, borrow.Do(t.Context(), hand))
		sleepUntil(7 * time.Second)
		require.NotContains(t, stored(t, c.server), orders.ItemMisfire(0))
	})
}

// Nodes that only sessions own and that are there before anybody comes are in nobody's way.
func TestStraysThatWereThereFirst(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		orders.Leader(), orders.Instance(fullID("a")), orders.Instance("10.9.9.9@-@nobody"), orders.ItemRunning(0),
		orders.ItemFailover(0), orders.BarrierHook(jobtree.PhaseStarted), orders.BarrierHook(jobtree.PhaseCompleted),
	} {
		t.Run(strings.ReplaceAll(path, "/", "."), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				put(t, c.server, path, "10.9.9.9@-@nobody")
				c.start("a", nil, jobOf(2))
				sleepUntil(2 * time.Second)
				require.NotEqual(t, "10.9.9.9@-@nobody", stored(t, c.server)[path])
				sleepUntil(6 * time.Second)
				require.Equal(t, []string{"item 0 fire 5s scheduled on a", "item 1 fire 5s scheduled on a"}, c.shown())
			})
		})
	}
}

// An item whose record was set aside does not run once more for a request that others are still to answer.
func TestARecordThatIsLostWhileInstancesAreAsked(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		slow := func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 1 {
				time.Sleep(30 * time.Second)
			}
			return nil
		}
		a := c.start("a", slow, yearly(2))
		sleepUntil(time.Second)
		trigger(t, a)
		sleepUntil(2 * time.Second)
		triggerByValue(t, c, "a")
		sleepUntil(3 * time.Second)
		require.Len(t, c.take(), 2, "item 0 has run for both, item 1 runs for the first")
		put(t, c.server, ofOrders.ItemRecord(0), "{")
		sleepUntil(2 * time.Minute)
		runs := c.take()
		require.Len(t, runs, 2, "%v", runs)
		require.Equal(t, []int{1, 1}, []int{runs[0].sc.Item, runs[1].sc.Item})
	})
}

func TestARecordIsRemovedByHand(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(1))
		sleepUntil(6 * time.Second)
		remove(t, c.server, "/orders/sharding/0/record")
		c.take()
		sleepUntil(16 * time.Second)
		require.Len(t, c.take(), 2)
	})
}
