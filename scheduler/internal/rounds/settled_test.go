package rounds

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Whether the assignment is settled is found out anew after each step that may change it, and not after executions: their
// number grows with the items, and so does what it takes to find out.
func TestWhenTheAssignmentIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	r, v := jobOf(t, "me", "other")
	tree := v.Tree
	revision := registry.Revision(10)
	put := func(path, value string) registry.Change {
		revision++
		return registry.Change{New: registry.Node{Path: path, Value: value, Created: revision, Revision: revision}}
	}
	step := func(changes ...registry.Change) {
		r.Observe(v.State.Apply(registry.Step{Changes: changes}))
	}
	cfg := *v.Config
	cfg.ShardingTotalCount = 2
	v.Config = &cfg
	for _, s := range []struct {
		name    string
		changes []registry.Change
		settled bool
		again   bool
	}{
		{"nobody is there", nil, false, false},
		{"one comes", []registry.Change{put(tree.Instance("me"), "")}, false, true},
		{"the other comes", []registry.Change{put(tree.Instance("other"), "")}, true, true},
		{"an item runs", []registry.Change{put(tree.ItemRunning(1), "other"), put(tree.ItemRecord(1), "{}")}, true, false},
		{"a resharding is wanted", []registry.Change{put(tree.Necessary(), "")}, false, true},
		{"it is not wanted any more", []registry.Change{{Old: registry.Node{Path: tree.Necessary()}}}, true, true},
		{"an item goes to nobody", []registry.Change{put(tree.ItemInstance(1), "third")}, false, true},
		{"it comes back", []registry.Change{put(tree.ItemInstance(1), "other")}, true, true},
		{"there are more items", []registry.Change{put(tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: 1, Counter: 2, Total: 3}))}, false, true},
	} {
		r.isSettled(v)
		step(s.changes...)
		require.Equal(t, !s.again, r.settledKnown, s.name)
		require.Equal(t, s.settled, r.isSettled(v), s.name)
		require.Equal(t, s.settled, v.Settled(), s.name)
	}
}

// The owners of items that are not followed are as they were: after another assignment nobody knows whether they have one,
// until everything is followed again.
func TestTheAssignmentOfANarrowedStateIsSettledUntilTheNextOne(t *testing.T) {
	t.Parallel()
	r, v := jobOf(t, "me", "other")
	tree := v.Tree
	cfg := *v.Config
	cfg.ShardingTotalCount = 2
	v.Config = &cfg
	put := func(revision registry.Revision, path, value string) registry.Change {
		return registry.Change{New: registry.Node{Path: path, Value: value, Created: revision, Revision: revision}}
	}
	step := func(changes ...registry.Change) { r.Observe(v.State.Apply(registry.Step{Changes: changes})) }
	step(put(11, tree.Instance("me"), ""), put(12, tree.Instance("other"), ""))
	require.True(t, r.isSettled(v))
	v.State.Narrow([]int{0})
	require.True(t, r.isSettled(v), "nothing has moved")
	epoch := v.State.Epoch.Value
	epoch.Counter++
	step(put(13, tree.Epoch(), jobtree.EncodeEpoch(epoch)))
	require.False(t, r.isSettled(v))
	v.State.Widen()
	r.Stale()
	require.False(t, v.Settled(), "what has moved comes with the next step")
	step()
	require.True(t, r.isSettled(v))
}
