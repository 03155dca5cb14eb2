package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// A join that the registry carries out once more, after the instance has left the job: the process finds
// an instance of its session that it does not stand behind, and takes it back.
func TestALateJoinOfAJobThatWasLeft(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.serveJobs("b", nil, "other")
		a := c.launchWith("a", nil, handlers(c, "a", nil, "index"), nil)
		time.Sleep(time.Second)
		a.registry.DuplicateLater(1, 10*time.Second)
		c.store(ofClass("orders", "index", 2))
		sleepUntil(6 * time.Second)
		require.Len(t, c.take(), 2)
		c.store(ofClass("orders", "other", 2))
		time.Sleep(time.Second) // it leaves
		view, err := a.registry.View(t.Context(), registry.Root)
		require.NoError(t, err)
		defer view.Close()
		var seen int
		path := "/orders/instances/" + fullID("a")
		view.Subscribe(func(step registry.Step) {
			for _, change := range step.Changes {
				if change.Path() == path && !change.Old.Exists() {
					seen++
				}
			}
		})
		sleepUntil(10 * time.Second)
		require.Zero(t, seen)
		require.NotContains(t, c.nodes("/orders/instances"), path)
		sleepUntil(12 * time.Second)
		require.Equal(t, 1, seen, "the late join was carried out")
		require.NotContains(t, c.nodes("/orders/instances"), path)
		c.take()
		sleepUntil(16 * time.Second)
		require.Len(t, c.take(), 2, "all items are where they are run")
	})
}

// The same while the process drains: it takes itself out of the job again.
func TestALateJoinDuringADrain(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := c.server.Open("test")
		reg.DuplicateLater(2, 8*time.Second) // the configuration, of which there never is a copy, and the join
		a := c.launchOver(reg, "a", took(15*time.Second), jobOf(1))
		sleepUntil(6 * time.Second) // the item runs
		a.cancel()
		sleepUntil(7 * time.Second)
		require.Empty(t, c.nodes("/orders/instances"))
		created := c.server.Stats().Transactions
		sleepUntil(9 * time.Second)
		require.Greater(t, c.server.Stats().Transactions, created, "it left once more")
		require.Empty(t, c.nodes("/orders/instances"))
	})
}

// A request that the registry carries out once more comes to nothing: the first one, which creates its node, and one
// that replaces it, also after others have taken its place.
func TestALateTrigger(t *testing.T) {
	t.Parallel()
	for _, before := range []int{0, 1} {
		inBubble(t, func(t *testing.T, c *cluster) {
			a := c.start("a", nil, yearly(2))
			operators := c.start("b", nil, yearly(2))
			sleepUntil(time.Second)
			for range before {
				trigger(t, a)
				time.Sleep(time.Second)
			}
			c.take()
			operators.registry.DuplicateLater(1, 10*time.Second) // the request, before any begin of this process
			trigger(t, operators)
			time.Sleep(time.Second)
			require.Len(t, c.take(), 2)
			trigger(t, a)
			time.Sleep(time.Second)
			require.Len(t, c.take(), 2)
			number := c.state().Triggered().Revision
			sleepUntil(time.Minute)
			require.Empty(t, c.take())
			require.Equal(t, number, c.state().Triggered().Revision)
		})
	}
}
