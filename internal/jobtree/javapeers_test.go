package jobtree_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

func sharedState(s *store) *jobtree.State {
	state := jobtree.NewState("orders")
	state.ShareWithJava()
	step := registry.Step{Snapshot: s.snapshot()}
	for n := range s.snapshot().Below("/orders") {
		step.Changes = append(step.Changes, registry.Change{New: n})
	}
	state.Apply(step)
	return state
}

// Java instances know instance nodes alone, so these say who owns an item and how many items there are.
func TestSharedOwners(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	s := newStore()
	s.put(tree.Config(), configText(t, 5), 0)
	s.put(tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 1, Counter: 1, Total: 2}), 0)
	s.put(tree.ItemInstance(0), "10.0.0.1@-@7", 0)
	next := jobtree.Next{Epoch: jobtree.EpochID{Term: 1, Counter: 1}, Owner: "10.0.0.2@-@9"}
	s.put(tree.ItemNext(0), jobtree.EncodeNext(next), 0)
	owner := s.put(tree.ItemInstance(3), "10.0.0.1@-@8", 0)
	s.put(tree.ItemRecord(7), `{"state":"idle"}`, 0)

	state := sharedState(s)
	require.Equal(t, 4, state.Total())
	require.Equal(t, "10.0.0.1@-@7", state.Owner(0))
	require.Empty(t, state.Owner(1))
	require.Equal(t, "10.0.0.1@-@8", state.Owner(3))
	require.Equal(t, []registry.Condition{registry.Unchanged(tree.ItemInstance(3), owner)}, state.OwnerGuards(3))
	require.False(t, state.Surplus(4), "a Java leader may be at it")
	require.True(t, state.Surplus(5))

	require.Equal(t, "10.0.0.2@-@9", jobtree.StateOf("orders", s.snapshot()).Owner(0), "as it is without Java")
}

func TestSharedServersSpeakForThemselves(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	s := newStore()
	s.put(tree.Config(), `{"jobName":"orders","jobClass":"a.B","jobType":"SIMPLE","cron":"0 0/5 * * * ?","shardingTotalCount":2,"disabled":true}`, 0)
	require.True(t, sharedState(s).Enabled("10.0.0.1@-@7"))
	require.False(t, jobtree.StateOf("orders", s.snapshot()).Enabled("10.0.0.1@-@7"))
	s.put(tree.Server("10.0.0.1"), "DISABLED", 0)
	require.False(t, sharedState(s).Enabled("10.0.0.1@-@7"))
}

// A leader is Java's until it has committed an epoch of its term.
func TestWhoLeads(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	s := newStore()
	require.False(t, sharedState(s).LedByJava(), "nobody leads")
	leader := s.put(tree.Leader(), "10.0.0.1@-@7", 1)
	require.True(t, sharedState(s).LedByJava())
	require.False(t, sharedState(s).JavaReshards())
	s.put(tree.Necessary(), "", 0)
	require.True(t, sharedState(s).JavaReshards())
	s.remove(tree.Necessary())
	s.put(tree.Processing(), "", 1)
	require.True(t, sharedState(s).JavaReshards())
	s.put(tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: leader, Counter: 1, Total: 2}), 0)
	require.False(t, sharedState(s).LedByJava())
	require.False(t, sharedState(s).JavaReshards())
}

func TestSharedStateDependsOnWhatThereIsAndNotOnWhatWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newStore()
		state := jobtree.NewState("orders")
		state.ShareWithJava()
		for range rapid.IntRange(1, 15).Draw(t, "steps") {
			for range rapid.IntRange(0, 6).Draw(t, "changes") {
				drawChange(t, s)
			}
			state.Apply(s.step())
			requireSameState(t, sharedState(s), state)
			total := 0
			for item := range state.Items() {
				if state.Item(item).InstanceRevision != 0 {
					total = item + 1
				}
			}
			require.Equal(t, total, state.Total())
		}
	})
}
