package jobtree_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// A state that is narrowed, follows its view, and is widened again is the state of the tree as it is then. Meanwhile it
// is that of the items that it follows, and of everything that belongs to no item.
func TestANarrowedStateFollowsAndWidens(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	rapid.Check(t, func(rt *rapid.T) {
		const items = 6
		s := newStore()
		s.put(tree.Config(), configText(t, items), 0)
		change := func() {
			n := rapid.IntRange(0, items-1).Draw(rt, "item")
			put := rapid.Bool().Draw(rt, "put")
			nodes := []struct{ path, value string }{
				{tree.ItemInstance(n), "10.0.0.1@-@1"},
				{tree.ItemNext(n), "{}"},
				{tree.ItemDisabled(n), ""},
				{tree.ItemRunning(n), "10.0.0.1@-@1"},
				{tree.ItemFailover(n), "10.0.0.1@-@1"},
				{tree.ItemMisfire(n), "{}"},
				{tree.ItemRecord(n), `{"state":"idle"}`},
				{tree.FailoverItem(n), ""},
				{tree.Offset(n), fmt.Sprint("at ", s.revision)},
				{tree.Instance("10.0.0.1@-@1"), ""},
				{tree.Necessary(), ""},
				{tree.Leader(), "10.0.0.1@-@1"},
			}
			if node := rapid.SampledFrom(nodes).Draw(rt, "node"); put {
				s.put(node.path, node.value, 7)
			} else {
				s.remove(node.path)
			}
		}
		for range rapid.IntRange(0, 30).Draw(rt, "before") {
			change()
		}
		state := jobtree.StateOf("orders", s.snapshot())
		known := s.snapshot()
		for range 3 {
			followed := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOf(rapid.IntRange(0, items-1)).Draw(rt, "followed"))))
			parts := tree.Parts(followed, rapid.Bool().Draw(rt, "checkpoints"))
			seen, kept := jobtree.Narrowed(known, parts)
			state.Narrow(followed)
			for range rapid.IntRange(0, 20).Draw(rt, "narrow") {
				change()
			}
			now, _ := jobtree.Narrowed(s.snapshot(), parts)
			state.Apply(registry.Step{Snapshot: now, Changes: now.Since(seen)})
			whole := jobtree.StateOf("orders", s.snapshot())
			require.False(rt, state.KnowsAll())
			for n := range items {
				if !slices.Contains(followed, n) {
					require.False(rt, state.Knows(n))
					require.ErrorIs(rt, state.Item(n).Record.Err, jobtree.ErrNotFollowed)
					require.Equal(rt, whole.Item(n).FailoverItem, state.Item(n).FailoverItem)
					continue
				}
				require.True(rt, state.Knows(n))
				require.Equal(rt, whole.Item(n), state.Item(n))
			}
			require.Equal(rt, whole.Instances, state.Instances)
			require.Equal(rt, whole.FailoverItems, state.FailoverItems)
			require.Equal(rt, whole.Leader, state.Leader)
			require.Equal(rt, whole.Necessary, state.Necessary)

			state.Widen()
			known = s.snapshot()
			touched := state.Apply(registry.Step{Snapshot: known, Changes: known.Since(jobtree.Regained(now, kept))})
			require.True(rt, state.KnowsAll())
			for n := range items {
				require.Equal(rt, whole.Item(n), state.Item(n))
				require.True(rt, slices.Contains(followed, n) || slices.Contains(touched.Items, n))
			}
			require.Equal(rt, whole.Items(), state.Items())
		}
	})
}
