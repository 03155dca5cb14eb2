package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// A Java leader gives the items of a crashed instance new owners in its own next round. What was running
// does not wait for that.
func TestAnExecutionIsLostUnderAJavaLeader(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.javaLeads(dailyAsAssigned(4))
		a := c.startShared("a", stuckUntilCancelled, daily(4))
		c.startShared("b", nil, daily(4))
		c.startShared("c", nil, daily(4))
		j.reshard(0, fullID("a"), fullID("a"), fullID("b"), javaID)
		sleepUntil(12 * time.Second)
		c.take()
		a.crash(t)
		sleepUntil(20 * time.Second)
		j.ask() // as every Java instance does then
		sleepUntil(time.Minute)
		require.ElementsMatch(t, []string{"item 0 fire 10s failover on b", "item 1 fire 10s failover on c"}, c.reruns())
		require.Equal(t, fullID("a"), c.state().Owner(0), "the leader has yet to do its part")
		sleepUntil(10 * time.Minute)
		require.Empty(t, c.reruns())
	})
}

// A Java leader that goes before it gave the items of a crashed instance new owners leaves that to one of ours, for whom they
// are those of a crashed instance: where all of them are to run again, those that have are not run once more.
func TestWhatWasRunAgainUnderAJavaLeaderIsNotRunAgainUnderTheNext(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		all := daily(3)
		all.FailoverScope = job.FailoverAssigned
		j := c.javaLeads(asAssigned(all))
		a := c.startShared("a", func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item == 0 {
				return stuckUntilCancelled(ctx, sc)
			}
			return nil
		}, all)
		c.startShared("b", nil, all)
		j.reshard(0, fullID("a"), fullID("a"), fullID("b"))
		sleepUntil(12 * time.Second)
		c.take()
		a.crash(t)
		sleepUntil(time.Minute)
		require.Equal(t, []string{"item 0 fire 10s failover on b"}, c.reruns())
		require.Equal(t, fullID("a"), c.state().Owner(0), "the leader has yet to do its part")
		j.store(all)
		j.vanish()
		sleepUntil(2 * time.Minute)
		require.Equal(t, map[string]int{fullID("b"): 3}, c.owners())
		require.Equal(t, []string{"item 1 fire 10s failover on b"}, c.reruns(), "which was not running")
	})
}

// What one of ours lost and a Java instance claimed is run again if that one is gone before it began: also where it was left to
// Java by its record meanwhile, and where it had begun and ended, nothing is.
func TestAJavaClaimantIsGoneBeforeItBegins(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		deed   func(j *java)
		reruns []string
		early  bool // before the session of ours is over
	}{
		"early":              {func(*java) {}, []string{"item 0 fire 10s failover on a"}, true},
		"early, for a while": {func(*java) { time.Sleep(5 * time.Second) }, []string{"item 0 fire by hand failover on a"}, true},
		"before":             {func(*java) { time.Sleep(300 * time.Millisecond) }, []string{"item 0 fire by hand failover on a"}, false},
		"at once":            {func(*java) {}, []string{"item 0 fire by hand failover on a"}, false},
		"as it ends": {func(j *java) {
			j.begin(0)
			time.Sleep(300 * time.Millisecond)
			j.end(0)
		}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				j := c.javaLeads(dailyAsAssigned(1))
				b := c.startShared("b", stuckUntilCancelled, daily(1))
				j.reshard(0, fullID("b"))
				sleepUntil(12 * time.Second)
				c.startShared("a", nil, daily(1))
				sleepUntil(13 * time.Second)
				c.take()
				j.do(registry.Put(orders.Server("10.0.0.1"), "DISABLED")) // so that none of ours claims it
				b.crash(t)
				if !test.early {
					sleepUntil(20 * time.Second)
					require.Equal(t, jobtree.ItemWaiting, c.state().Item(0).Record.Value.State)
				}
				j.do(registry.PutOwned(orders.ItemFailover(0), javaID, j.session))
				j.do(registry.Delete(orders.FailoverItem(0)))
				test.deed(j)
				j.do(registry.Delete(orders.Instance(javaID)), registry.Delete(orders.ItemFailover(0)))
				time.Sleep(time.Second)
				c.java().do(registry.Put(orders.Server("10.0.0.1"), ""))
				sleepUntil(2 * time.Hour)
				require.Equal(t, test.reruns, c.reruns())
				requireNoMarks(t, c, 0)
			})
		})
	}
}

// Nothing is claimed while a Java leader assigns items: it has seen that nothing runs.
func TestNothingIsClaimedWhileAJavaLeaderAssigns(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.javaLeads(dailyAsAssigned(1))
		a := c.startShared("a", stuckUntilCancelled, daily(1))
		c.startShared("b", nil, daily(1))
		j.reshard(0, fullID("a"))
		sleepUntil(12 * time.Second)
		a.crash(t)
		j.beginAssigning()
		sleepUntil(time.Minute)
		require.Empty(t, c.reruns())
		require.Equal(t, jobtree.ItemWaiting, c.state().Item(0).Record.Value.State)
		j.endAssigning()
		sleepUntil(time.Minute + time.Second)
		require.Equal(t, []string{"item 0 fire 10s failover on b"}, c.reruns())
	})
}

// The owner of ours claims what it owns, also if a Java leader is asked for a resharding; the others do if
// it does not.
func TestAnOwnerClaimsUnderAJavaLeader(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.javaLeads(dailyAsAssigned(2))
		a := c.startShared("a", stuckUntilCancelled, daily(2))
		c.startShared("b", nil, daily(2))
		c.startShared("c", nil, daily(2))
		j.reshard(0, fullID("a"), javaID)
		sleepUntil(12 * time.Second)
		j.do(registry.Put(orders.ItemInstance(0), fullID("c")), registry.Put(orders.Necessary(), ""))
		a.crash(t)
		sleepUntil(time.Minute)
		require.Equal(t, []string{"item 0 fire 10s failover on c"}, c.reruns())
	})
}

// What a Java instance was running is run again though the leader that follows is Java, too.
func TestAJavaInstanceCrashesUnderAJavaLeader(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j, second := c.javaLeads(dailyAsAssigned(2)), c.javaJoins(secondJavaID)
		c.startShared("a", nil, daily(2))
		j.reshard(0, secondJavaID, javaID)
		sleepUntil(10 * time.Second)
		second.begin(0)
		sleepUntil(11 * time.Second)
		second.vanish()
		sleepUntil(time.Minute)
		require.Equal(t, []string{"item 0 fire 10s failover on a"}, c.reruns())
	})
}

// The item of a lost execution goes to a Java instance, which runs its next fire: that is not the rerun.
func TestARegularRunOfJavaIsNoRerun(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(c *cluster, j *java, a *instance){
		"of what ran here": func(c *cluster, j *java, a *instance) {
			sleepUntil(12 * time.Second)
			a.crash(c.t)
			j.end(0) // Java takes the mark from whoever has it
			j.reshard(2, javaID, javaID)
			j.begin(0)
		},
		"of what ran in Java": func(c *cluster, j *java, _ *instance) {
			second := c.javaJoins(secondJavaID)
			j.reshard(2, secondJavaID, javaID)
			sleepUntil(10 * time.Second)
			second.begin(0)
			sleepUntil(12 * time.Second)
			second.vanish()
			c.sleepWhileMarked(0)
			j.reshard(2, javaID, javaID)
			j.begin(0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				j := c.javaLeads(dailyAsAssigned(2))
				a := c.startShared("a", stuckUntilCancelled, daily(2))
				c.startShared("b", nil, daily(2))
				j.reshard(0, fullID("a"), javaID)
				lose(c, j, a)
				sleepUntil(30 * time.Second)
				require.Empty(t, c.reruns(), "the item runs, in Java")
				require.Equal(t, jobtree.ItemWaiting, c.state().Item(0).Record.Value.State)
				j.end(0)
				sleepUntil(time.Minute)
				reruns := c.reruns()
				require.Len(t, reruns, 1)
				require.Contains(t, reruns[0], "item 0 fire 10s failover on ")
			})
		})
	}
}

// A leader of ours may give the item of a lost execution to a Java instance, which looks for such at the end
// of its next round.
func TestALostExecutionOfAnItemThatGoesToJava(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startShared("b", nil, daily(6))
		c.javaJoins(lastJavaID)
		a := c.startShared("a", stuckUntilCancelled, daily(6))
		sleepUntil(12 * time.Second)
		owned := map[int]bool{}
		for item := range 6 {
			owned[item] = c.state().Owner(item) == fullID("a")
		}
		c.take()
		a.crash(t)
		sleepUntil(time.Minute)
		s := c.state()
		require.Equal(t, fullID("b"), s.Leader.Instance)
		toJava := 0
		for item, was := range owned {
			if was && s.Owner(item) == lastJavaID {
				toJava++
			}
		}
		require.NotZero(t, toJava, "what this test is about")
		lost := 0
		for _, was := range owned {
			if was {
				lost++
			}
		}
		require.Len(t, c.reruns(), lost)
	})
}
