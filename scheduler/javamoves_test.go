package scheduler_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// nextFire returns when the next fire of [everyFive] comes, counted from the start of the bubble.
func nextFire() time.Duration {
	const period = 5 * time.Second
	return time.Since(bubbleStart).Truncate(period) + period
}

// A Java instance asks for its items a moment after a fire, and an instance of ours has run for it at once.
// So items change sides at other times.
func TestItemsChangeSidesBetweenFires(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startShared("a", nil, sharedJob(2))
		j := c.java()
		for _, at := range []time.Duration{-150 * time.Millisecond, 50 * time.Millisecond, 1500 * time.Millisecond} {
			sleepUntil(nextFire() + 5*time.Second + at)
			j.join()
			time.Sleep(100 * time.Millisecond)
			require.Zero(t, c.state().Necessary, "it is answered all the same")
			require.Equal(t, map[string]int{fullID("a"): 2}, c.owners(), "%s from a fire", at)
			time.Sleep(2 * time.Second)
			require.Equal(t, map[string]int{fullID("a"): 1, javaID: 1}, c.owners())
			j.leaveAndAsk()
			time.Sleep(100 * time.Millisecond)
			require.Equal(t, map[string]int{fullID("a"): 2}, c.owners(), "at once, from one that is gone")
		}
		c.take()
		sleepUntil(nextFire() + 2*time.Second)
		j.join()
		time.Sleep(100 * time.Millisecond)
		require.Equal(t, map[string]int{fullID("a"): 1, javaID: 1}, c.owners(), "at once, as no fire is near")
	})
}

// A Java instance asks for its items some time after a fire. An item that moves from one to another meanwhile runs in both, or
// in neither.
func TestItemsMoveBetweenJavaInstancesBetweenFires(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		c.startShared("a", nil, sharedJob(2))
		c.javaJoins(secondJavaID)
		sleepUntil(3 * time.Second)
		owners := func() []string { return []string{c.state().Owner(0), c.state().Owner(1)} }
		require.Equal(t, []string{secondJavaID, fullID("a")}, owners())
		sleepUntil(5050 * time.Millisecond)
		c.javaJoins(javaID)
		time.Sleep(100 * time.Millisecond)
		require.Equal(t, []string{secondJavaID, fullID("a")}, owners())
		time.Sleep(2 * time.Second)
		require.Equal(t, []string{javaID, secondJavaID}, owners())
	})
}

// Java takes away whatever mark an item has when it ends a run of it, and when it connects again. What runs here goes on, and
// its item stays until it has ended.
func TestAnItemWhoseMarkJavaTookAwayStaysWhereItRuns(t *testing.T) {
	t.Parallel()
	for name, join := range map[string]func(c *cluster) (unmark func()){
		"2.1.5": func(c *cluster) func() {
			c.startShared("a", lasting(8*time.Second), everyTen())
			return func() { c.java().end(0) }
		},
		"3.x": func(c *cluster) func() {
			c.startBeside3("a", lasting(8*time.Second), everyTen())
			return func() { c.elasticJob3(javaID).end(0) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				unmark := join(c)
				sleepUntil(11 * time.Second)
				unmark()
				sleepUntil(13 * time.Second)
				if name == "3.x" {
					c.elasticJob3Joins(javaID)
				} else {
					c.javaJoins(javaID)
				}
				sleepUntil(14 * time.Second)
				require.Equal(t, fullID("a"), c.node(orders.ItemInstance(0)).Value, "it runs")
				sleepUntil(18500 * time.Millisecond)
				require.Equal(t, javaID, c.node(orders.ItemInstance(0)).Value)
				require.Len(t, c.take(), 6)
			})
		})
	}
}
