package scheduler_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// aWay is how long a request, an answer and an event take each where a test counts them.
const aWay = 5 * time.Millisecond

// startFar is start for an instance whose registry is a way off.
func (c *cluster) startFar(id string, cfg job.Config) *instance {
	c.t.Helper()
	i := c.launchOver(c.server.Open("test", memory.WithLatency(aWay)), id, nil, cfg)
	<-i.Ready()
	return i
}

// ownedOnlyBy returns how long it takes until all items of the job "orders" belong to these instances.
func (c *cluster) ownedOnlyBy(items int, ids ...string) time.Duration {
	c.t.Helper()
	began := time.Now()
	reg := c.server.Open("test")
	view, err := reg.View(c.t.Context(), jobtree.For("orders").Root())
	require.NoError(c.t, err)
	owners := make(map[string]bool)
	for _, id := range ids {
		owners[fullID(id)] = true
	}
	_, err = view.WaitFor(c.t.Context(), func(s registry.Snapshot) bool {
		state := jobtree.StateOf("orders", s)
		for n := range items {
			if !owners[state.Owner(n)] {
				return false
			}
		}
		return true
	})
	require.NoError(c.t, err)
	took := time.Since(began)
	view.Close()
	require.NoError(c.t, reg.Close(c.t.Context()))
	return took
}

// yearlyOf is a job "orders" that does not fire while a test lasts.
func yearlyOf(items int) job.Config {
	return job.Config{Name: "orders", Cron: "0 0 0 1 7 ?", ShardingTotalCount: items}
}

// A leader that stops gives its items away in the request in which it goes. Those of another instance are given away by
// the leader as soon as it sees that this one has gone: a leave, its event, and a resharding. More items than a
// transaction has room for take another request, there and back; and if it was the leader that had them, another leader
// is elected first.
func TestHowFarAHandoverTravels(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		stops string
		items int
		ways  int // of requests, answers and events, one after the other
	}{
		{"the leader", 10, 1},
		{"the leader", 1000, 7},
		{"a member", 10, 3},
		{"a member", 1000, 5},
	} {
		t.Run(fmt.Sprintf("%s/items=%d", test.stops, test.items), func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				leader, member := c.startFar("a", yearlyOf(test.items)), c.startFar("b", yearlyOf(test.items))
				sleepUntil(time.Minute)
				require.Equal(t, fullID("a"), c.state().Leader.Instance)
				goes, stays := leader, "b"
				if test.stops == "a member" {
					goes, stays = member, "a"
				}
				goes.cancel()
				require.Equal(t, time.Duration(test.ways)*aWay, c.ownedOnlyBy(test.items, stays))
				sleepUntil(2 * time.Minute)
				require.Equal(t, fullID(stays), c.state().Leader.Instance)
				require.Zero(t, c.state().Necessary)
			})
		})
	}
}

// Of members that leave one after the other, the leader tries to give away the items of the first at once, and those of
// the others together, every 20 ms: many that leave do not make a resharding each.
func TestThoseWhoLeaveTogetherAreGathered(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const items = 60
		leader := c.startFar("a", yearlyOf(items))
		var leavers []*instance
		for n := range 9 {
			leavers = append(leavers, c.startFar(fmt.Sprintf("b%d", n), yearlyOf(items)))
		}
		sleepUntil(time.Minute)
		before := leader.registry.Stats()
		for _, leaver := range leavers {
			leaver.cancel()
			time.Sleep(4 * time.Millisecond)
		}
		c.ownedOnlyBy(items, "a")
		require.Equal(t, 3, leader.registry.Stats().CommitRequests-before.CommitRequests, "in 32 ms")
	})
}

// All stop in one moment, and with them the leader, which would give its items to those that go as well.
func TestAllLeaveTogether(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		var all []*instance
		for n := range 5 {
			all = append(all, c.startFar(fmt.Sprintf("a%d", n), yearlyOf(10)))
		}
		sleepUntil(time.Minute)
		for _, i := range all {
			i.cancel()
		}
		for _, i := range all {
			i.stop(t)
		}
		require.Less(t, time.Since(bubbleStart), time.Minute+time.Second)
		require.Empty(t, c.state().Instances)
		require.Zero(t, c.state().Leader.Created)
	})
}
