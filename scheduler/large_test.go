package scheduler_test

import (
	"context"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// assignments collects the distinct assignments that a reader of the job "orders" sees, as numbers
// of items by owner.
func (c *cluster) assignments(total int) (seen func() []map[string]int) {
	c.t.Helper()
	reg := c.server.Open("test")
	c.t.Cleanup(func() { require.NoError(c.t, reg.Close(context.Background())) })
	view, err := reg.View(c.t.Context(), "/orders")
	require.NoError(c.t, err)
	var mu sync.Mutex
	var all []map[string]int
	state := jobtree.NewState("orders")
	view.Subscribe(func(step registry.Step) {
		state.Apply(step)
		owners := make(map[string]int)
		for n := range state.Total() {
			owners[state.Owner(n)]++
		}
		if state.Total() != total || owners[""] == total {
			return // not assigned yet
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, owners)
	})
	return func() []map[string]int {
		mu.Lock()
		defer mu.Unlock()
		return all
	}
}

// A resharding that does not fit into one transaction is atomic for every reader all the same.
func TestTenThousandItemsMoveAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const total = 10_000
		seen := c.assignments(total)
		c.start("a", nil, yearly(total))
		sleepUntil(time.Second)
		b := c.start("b", nil, yearly(total))
		sleepUntil(2 * time.Second)
		b.stop(t)
		sleepUntil(3 * time.Second)
		both := map[string]int{fullID("a"): total / 2, fullID("b"): total / 2}
		alone := map[string]int{fullID("a"): total}
		stages := []map[string]int{alone, both, alone}
		stage := 0
		for i, owners := range seen() {
			for stage < len(stages) && !maps.Equal(owners, stages[stage]) {
				stage++
			}
			require.Less(t, stage, len(stages), "step %d shows a mixture: %v", i, owners)
		}
		require.Equal(t, len(stages)-1, stage, "every assignment was seen")
		final := c.state()
		for n := range total {
			require.False(t, final.Item(n).Next.Exists(), "item %d is tidy", n)
		}
	})
}

// A leader that dies in the midst of a large resharding leaves the old assignment in force, and its
// successor's counts.
func TestALeaderDiesInTheMidstOfALargeResharding(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		const total = 1_000
		seen := c.assignments(total)
		a := c.start("a", nil, yearly(total))
		sleepUntil(time.Second)
		a.registry.SetLatency(10 * time.Millisecond)
		c.start("b", nil, yearly(total))
		for c.state().Item(0).Next.Revision == 0 && c.state().Item(total-1).Next.Revision == 0 {
			time.Sleep(time.Millisecond)
		}
		a.crash(t)
		time.Sleep(10 * time.Second)
		for _, owners := range seen() {
			if len(owners) == 2 {
				require.Equal(t, map[string]int{fullID("a"): total / 2, fullID("b"): total / 2}, owners)
			}
		}
		require.Equal(t, map[string]int{fullID("b"): total}, c.owners())
	})
}
