package scheduler_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// secondJavaID is the instance id of another Java instance, on a server of its own.
const secondJavaID = "10.0.0.8@-@7"

// lastJavaID is that of a Java instance that comes after those of ours when items are assigned.
const lastJavaID = "10.0.0.0@-@7"

// onceADay fires at second 10 of each day.
const onceADay = "10 0 0 * * ?"

// daily is [failingOver] with a day between two fires: what waits for one waits too long.
func daily(total int) job.Config {
	cfg := failingOver(total)
	cfg.Cron = onceADay
	return cfg
}

// dailyAsAssigned is [daily] with a strategy that only Java has, so that a test can assign items as it likes.
func dailyAsAssigned(total int) job.Config {
	cfg := daily(total)
	cfg.ShardingStrategy = "com.acme.OwnStrategy"
	return cfg
}

// joinAs is [java.join] under another id.
func (j *java) joinAs(id string) {
	j.t.Helper()
	j.do(registry.Put(orders.Server(jobtree.ServerOf(id)), ""))
	j.do(registry.PutOwned(orders.Instance(id), "", j.session))
	j.do(registry.Put(orders.Necessary(), ""))
}

// reruns lists the failover runs since the last look.
func (c *cluster) reruns() []string {
	c.t.Helper()
	var reruns []string
	for _, r := range c.take() {
		if r.sc.Source == job.Failover {
			reruns = append(reruns, r.String())
		}
	}
	return reruns
}

// sleepWhileMarked sleeps until the mark of an execution has gone with its session.
func (c *cluster) sleepWhileMarked(item int) {
	c.t.Helper()
	for c.state().Item(item).Running.Exists() {
		time.Sleep(100 * time.Millisecond)
	}
}

// stuckUntilCancelled is work that ends only when it is run again.
func stuckUntilCancelled(ctx context.Context, sc job.ShardingContext) error {
	if sc.Source == job.Failover {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

// A Java leader gives the items of a crashed instance new owners in its own next round. What was running
// does not wait for that.
func TestAnExecutionIsLostUnderAJavaLeader(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.java()
		j.do(registry.Put(orders.Config(), mustEncode(dailyAsAssigned(4))))
		j.lead()
		j.join()
		a := c.startShared("a", stuckUntilCancelled, daily(4))
		c.startShared("b", nil, daily(4))
		c.startShared("c", nil, daily(4))
		j.reshard(0, fullID("a"), fullID("a"), fullID("b"), javaID)
		sleepUntil(12 * time.Second)
		c.take()
		a.crash(t)
		sleepUntil(20 * time.Second)
		j.do(registry.Put(orders.Necessary(), "")) // as every Java instance does then
		sleepUntil(time.Minute)
		require.ElementsMatch(t, []string{"item 0 fire 10s failover on b", "item 1 fire 10s failover on c"}, c.reruns())
		require.Equal(t, fullID("a"), c.state().Owner(0), "the leader has yet to do its part")
		sleepUntil(10 * time.Minute)
		require.Empty(t, c.reruns())
	})
}

// Nothing is claimed while a Java leader assigns items: it has seen that nothing runs.
func TestNothingIsClaimedWhileAJavaLeaderAssigns(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.java()
		j.do(registry.Put(orders.Config(), mustEncode(dailyAsAssigned(1))))
		j.lead()
		j.join()
		a := c.startShared("a", stuckUntilCancelled, daily(1))
		c.startShared("b", nil, daily(1))
		j.reshard(0, fullID("a"))
		sleepUntil(12 * time.Second)
		a.crash(t)
		j.do(registry.PutOwned(orders.Processing(), "", j.session))
		sleepUntil(time.Minute)
		require.Empty(t, c.reruns())
		require.Equal(t, jobtree.ItemWaiting, c.state().Item(0).Record.Value.State)
		j.do(registry.Delete(orders.Processing()))
		sleepUntil(time.Minute + time.Second)
		require.Equal(t, []string{"item 0 fire 10s failover on b"}, c.reruns())
	})
}

// The owner of ours claims what it owns, also if a Java leader is asked for a resharding; the others do if
// it does not.
func TestAnOwnerClaimsUnderAJavaLeader(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		j := c.java()
		j.do(registry.Put(orders.Config(), mustEncode(dailyAsAssigned(2))))
		j.lead()
		j.join()
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
		j, second := c.java(), c.java()
		j.do(registry.Put(orders.Config(), mustEncode(dailyAsAssigned(2))))
		j.lead()
		j.join()
		second.joinAs(secondJavaID)
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
			second := c.java()
			second.joinAs(secondJavaID)
			j.reshard(2, secondJavaID, javaID)
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
				j := c.java()
				j.do(registry.Put(orders.Config(), mustEncode(dailyAsAssigned(2))))
				j.lead()
				j.join()
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
		j := c.java()
		j.joinAs(lastJavaID)
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
