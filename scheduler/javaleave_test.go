package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// neighbourID is a Java instance at the address of ours.
const neighbourID = "10.0.0.1@-@7"

// failsOver follows the job as a Java instance of 2.1.5 does: when an instance goes, it has all items run again that the
// assignment then says are that one's. It returns which these were.
func (c *cluster) failsOver() (items func() []int) {
	c.t.Helper()
	j := c.java()
	view, err := j.registry.View(c.t.Context(), orders.Root())
	require.NoError(c.t, err)
	var found []int
	s := jobtree.SharedStateOf("orders", registry.NewSnapshot(0, nil))
	view.Subscribe(func(step registry.Step) {
		before := slices.Clone(s.Instances)
		s.Apply(step)
		for _, i := range before {
			if s.Instance(i.ID).Created != 0 {
				continue
			}
			for item := range s.Items() {
				if s.Owner(item) == i.ID {
					found = append(found, item)
				}
			}
		}
	})
	return func() []int { c.take(); return found }
}

// Java takes an instance that stops for one that crashed, if another one has the same address, and runs again what it had and
// what it was running. So it stays until nothing runs, and has no items when it goes.
func TestAStopBesideAJavaInstanceOfTheSameAddress(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		at     time.Duration // of the stop
		leader bool          // the one that stops leads
	}{
		"it is idle":             {16 * time.Second, false},
		"it runs":                {11 * time.Second, false},
		"it is idle, and leads":  {16 * time.Second, true},
		"it runs, and leads":     {11 * time.Second, true},
		"a fire comes meanwhile": {19900 * time.Millisecond, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				cfg := everyTen()
				cfg.Failover, cfg.ShardingTotalCount = true, 4
				first := c.startShared("a", lasting(3*time.Second), cfg)
				second := c.startShared("b", lasting(3*time.Second), cfg)
				c.javaJoins(neighbourID)
				stopped := second
				if test.leader {
					stopped = first
				}
				sleepUntil(9 * time.Second)
				require.Equal(t, fullID("a"), c.state().Leader.Instance)
				require.Len(t, c.owners(), 3)
				lost := c.failsOver()
				sleepUntil(test.at)
				stopped.stop(t)
				sleepUntil(test.at + 4*time.Second)
				require.Empty(t, lost())
				require.Len(t, c.owners(), 2)
				require.Equal(t, 4, c.state().Total())
				for item := range 4 {
					require.False(t, c.state().Item(item).Misfire.Exists())
				}
			})
		})
	}
}

// Where a Java instance leads, the items have no owner until it assigns them, but for one that a Java instance runs.
func TestAStopUnderAJavaLeaderOfTheSameAddress(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		cfg := failingOver(3)
		j := c.java()
		j.store(asAssigned(cfg))
		j.do(registry.PutOwned(orders.Leader(), neighbourID, j.session))
		j.joinAs(neighbourID)
		a := c.startShared("a", nil, cfg)
		j.reshard(0, fullID("a"), fullID("a"), fullID("a"))
		sleepUntil(7 * time.Second)
		j.begin(2)
		time.Sleep(time.Second) // a hears of it
		a.stop(t)
		for item := range 2 {
			require.False(t, c.node(orders.ItemInstance(item)).Exists())
		}
		require.Equal(t, fullID("a"), c.node(orders.ItemInstance(2)).Value)
		require.True(t, c.node(orders.Necessary()).Exists())
		require.False(t, c.node(orders.Instance(fullID("a"))).Exists())
	})
}
