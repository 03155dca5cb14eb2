package scheduler_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
)

// Hundreds of starts and deaths leave the tree with the nodes that it began with.
func TestHundredsOfStartsAndDeathsLeaveNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("keeper", nil, jobOf(3))
		sleepUntil(6 * time.Second)
		before := nodesOf(t, c)
		for n := range 200 {
			i := c.launch(fmt.Sprintf("%d", n), nil, jobOf(3))
			<-i.Ready()
			if n%2 == 0 {
				i.crash(t)
			} else {
				i.stop(t)
			}
		}
		time.Sleep(20 * time.Second)
		require.Equal(t, before, nodesOf(t, c))
	})
}

// Nor do leaves of a disabled job, which nobody leads, and so nobody tidies.
func TestLeavesOfADisabledJobLeaveNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := jobOf(2)
		cfg.Failover, cfg.FailoverScope, cfg.Disabled = true, job.FailoverAssigned, true
		c.start("keeper", nil, cfg)
		sleepUntil(6 * time.Second)
		before := nodesOf(t, c)
		for n := range 5 {
			i := c.launch(fmt.Sprintf("%d", n), nil, cfg)
			<-i.Ready()
			i.stop(t)
		}
		require.Equal(t, before, nodesOf(t, c))
	})
}

// nodesOf lists the paths of the job's nodes, but for marks of what runs just now.
func nodesOf(t *testing.T, c *cluster) []string {
	t.Helper()
	paths := slices.Sorted(maps.Keys(stored(t, c.server)))
	return slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, "/running") })
}

// A leader removes what stands in the tree for no reason, at intervals.
func TestALeaderRemovesWhatIsLeftOver(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.start("a", nil, jobOf(2))
		sleepUntil(6 * time.Second)
		before := nodesOf(t, c)
		put(t, c.server, "/orders/instances/"+fullID("ghost"), "")
		put(t, c.server, "/orders/servers/10.9.9.9", "")
		put(t, c.server, "/orders/leader/failover/items/1", "")
		sleepUntil(11 * time.Minute)
		require.Equal(t, before, nodesOf(t, c))
		require.Equal(t, map[string]int{fullID("a"): 2}, c.owners())
	})
}
