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

// askToLeave writes SHUTDOWN into the node of an instance, as an operator does.
func askToLeave(t *testing.T, c *cluster, id string) {
	t.Helper()
	operator := c.server.Open("test")
	_, err := operator.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Update(ofOrders.Instance(fullID(id)), jobtree.InstanceShutdown)}})
	require.NoError(t, err)
	require.NoError(t, operator.Close(t.Context()))
}

func shutDown(t *testing.T, i *instance) bool {
	t.Helper()
	for _, j := range i.Health(t.Context()).Jobs {
		if j.Job == "orders" {
			return j.ShutDown
		}
	}
	return false
}

// An instance that is shut down leaves this job alone, at once, and stays out.
func TestAnInstanceThatIsAskedToLeave(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "b"} { // a leads
		inBubble(t, func(t *testing.T, c *cluster) {
			other := jobOf(1)
			other.Name = "invoices"
			all := map[string]*instance{"a": c.start("a", nil, jobOf(4), other), "b": c.start("b", nil, jobOf(4))}
			sleepUntil(6 * time.Second)
			askToLeave(t, c, id)
			sleepUntil(6100 * time.Millisecond)
			require.Zero(t, c.state().Instance(fullID(id)).Created, "its node is deleted")
			require.True(t, shutDown(t, all[id]))
			left := map[string]string{"a": "b", "b": "a"}[id]
			require.Equal(t, map[string]int{fullID(left): 4}, c.owners())
			require.Equal(t, fullID(left), c.state().Leader.Instance)
			c.take()
			all[id].registry.Expire() // also under a new session
			c.change(jobOf(4))
			sleepUntil(3*time.Minute + time.Second)
			invoices := 0
			for _, r := range c.take() {
				if r.sc.JobName == "invoices" {
					invoices++
				} else {
					require.Equal(t, left, r.instance)
				}
			}
			require.Greater(t, invoices, 30, "its other jobs go on")
			all[id].stop(t)
			c.start(id, nil, jobOf(4))
			time.Sleep(time.Second)
			require.Len(t, c.owners(), 2, "a process that starts anew is back")
		})
	}
}

// What runs comes to its end, once, and what it missed meanwhile is another's.
func TestAShutdownWhileItemsRun(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(1)
		cfg.Misfire = job.MisfireAll
		cfg.Failover = true
		slow := func(_ context.Context, sc job.ShardingContext) error {
			if sc.Fire.Equal(bubbleStart.Add(5 * time.Second)) {
				time.Sleep(22 * time.Second)
			}
			return nil
		}
		c.start("a", slow, cfg)
		c.start("b", slow, cfg)
		sleepUntil(6 * time.Second)
		runner, other := "a", "b"
		if c.state().Owner(0) == fullID("b") {
			runner, other = "b", "a"
		}
		askToLeave(t, c, runner)
		sleepUntil(20 * time.Second)
		require.Zero(t, c.state().Instance(fullID(runner)).Created)
		require.True(t, c.state().Item(0).Running.Exists(), "it runs on")
		require.Empty(t, c.take())
		sleepUntil(31 * time.Second)
		require.Equal(t, []string{
			"item 0 fire 5s scheduled on " + runner, "item 0 fire 10s misfire on " + other, "item 0 fire 15s misfire on " + other,
			"item 0 fire 20s misfire on " + other, "item 0 fire 25s misfire on " + other, "item 0 fire 30s scheduled on " + other,
		}, c.shown())
	})
}

// The last instance that is shut down leaves what was missed to whoever comes.
func TestAShutdownOfTheLastInstance(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(1)
		cfg.Misfire = job.MisfireAll
		slow := func(_ context.Context, sc job.ShardingContext) error {
			if sc.Fire.Equal(bubbleStart.Add(5 * time.Second)) {
				time.Sleep(12 * time.Second)
			}
			return nil
		}
		c.start("a", slow, cfg)
		sleepUntil(6 * time.Second)
		askToLeave(t, c, "a")
		sleepUntil(41 * time.Second)
		require.Equal(t, []string{"item 0 fire 5s scheduled on a"}, c.shown())
		require.Empty(t, c.state().Instances)
		c.start("b", nil, cfg)
		sleepUntil(46 * time.Second)
		shown := c.shown()
		require.Equal(t, "item 0 fire 45s scheduled on b", shown[len(shown)-1])
	})
}

// A shutdown that cannot be carried out while the registry is away is carried out when it is back; what is asked
// of a session that ends unseen is gone with its node.
func TestAShutdownWhileTheRegistryIsAway(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cut, seen bool
		away      time.Duration
		stays     bool
	}{
		"it sees that first, and is back in time":             {seen: true, away: 2 * time.Second},
		"it sees that first, and its session is over by then": {seen: true, away: time.Minute},
		"it is back in time":                                  {away: 2 * time.Second},
		"its session is over by then":                         {away: time.Minute, stays: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				a := c.start("a", took(700*time.Millisecond), jobOf(2))
				c.start("b", nil, jobOf(2))
				sleepUntil(5500 * time.Millisecond) // items run
				if test.seen {
					a.registry.LoseAnswers(1)
					askToLeave(t, c, "a")
					sleepUntil(5501 * time.Millisecond)
					a.registry.Cut()
				} else {
					a.registry.Cut()
					askToLeave(t, c, "a")
				}
				time.Sleep(test.away)
				a.registry.Heal()
				sleepUntil(2 * time.Minute)
				require.Equal(t, test.stays, c.state().Instance(fullID("a")).Created != 0)
				require.Equal(t, !test.stays, shutDown(t, a))
				sleepUntil(2*time.Minute + 2*time.Second)
				c.take()
				sleepUntil(2*time.Minute + 12*time.Second)
				require.Len(t, c.take(), 4, "every item runs, once for a fire")
			})
		})
	}
}

// A shutdown in the middle of a stop, and a stop in the middle of a shutdown, end.
func TestAShutdownAndAStop(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", took(8*time.Second), jobOf(1))
		sleepUntil(6 * time.Second)
		askToLeave(t, c, "a")
		sleepUntil(7 * time.Second)
		a.stop(t)
		require.Equal(t, 13*time.Second, time.Since(bubbleStart).Round(time.Second), "it waits for what runs")
		require.Equal(t, []string{"item 0 fire 5s scheduled on a"}, c.shown())
		require.Equal(t, jobtree.Success, c.state().Item(0).Record.Value.Current.Outcome)
	})
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(1))
		sleepUntil(6 * time.Second)
		askToLeave(t, c, "a")
		sleepUntil(7 * time.Second)
		j, err := a.Job("orders")
		require.NoError(t, err)
		require.NoError(t, j.Leave(t.Context()), "what is left can be left")
		_, err = a.Add(t.Context(), jobOf(1), c.record("a", nil))
		require.NoError(t, err)
		c.take()
		sleepUntil(11 * time.Second)
		require.Equal(t, []string{"item 0 fire 10s scheduled on a"}, c.shown(), "a job that is added again runs again")
	})
}

// Another process's node, or one that a hand has made, asks nothing of this one.
func TestAShutdownOfSomebodyElse(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, jobOf(1))
		sleepUntil(time.Second)
		hand := c.server.Open("test")
		_, err := hand.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(ofOrders.Instance(fullID("a")))}})
		require.NoError(t, err)
		_, err = hand.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(ofOrders.Instance(fullID("a")), jobtree.InstanceShutdown)}})
		if err != nil { // it was quicker
			require.ErrorIs(t, err, registry.ErrOwned)
		}
		require.NoError(t, hand.Close(context.Background()))
		sleepUntil(time.Minute)
		require.False(t, shutDown(t, a))
		require.NotZero(t, c.state().Instance(fullID("a")).Created)
	})
}
