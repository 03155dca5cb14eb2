package resharding_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/sharding"
)

// tidyWorld has three items of a, under an epoch that is in force.
func tidyWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, 3)
	w.join("a", "b")
	w.do(
		registry.Put(tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: w.term, Counter: 5, Total: 3})),
		registry.Put(tree.ItemInstance(0), "a@-@1"),
		registry.Put(tree.ItemInstance(1), "a@-@1"),
		registry.Put(tree.ItemInstance(2), "a@-@1"),
	)
	require.Empty(t, resharding.Tidy(w.state(), w.term))
	return w
}

// putNext writes item 1's owner beside the present one, for an epoch of the leader's term.
func (w *world) putNext(counter int64, owner string) {
	w.Helper()
	next := jobtree.Next{Epoch: jobtree.EpochID{Term: w.term, Counter: counter}, Owner: owner}
	w.do(registry.Put(tree.ItemNext(1), jobtree.EncodeNext(next)))
}

func TestTidy(t *testing.T) {
	t.Parallel()
	next := tree.ItemNext(1)
	surplus := tree.ItemInstance(3)
	for name, test := range map[string]struct {
		change func(*world)
		want   []registry.Write
	}{
		"an owner that came into force takes its place": {
			func(w *world) { w.putNext(5, "b@-@1") },
			[]registry.Write{registry.Delete(next), registry.Put(tree.ItemInstance(1), "b@-@1")},
		},
		"one that is the former one, too, only goes": {
			func(w *world) { w.putNext(5, "a@-@1") }, []registry.Write{registry.Delete(next)},
		},
		"one that never came into force is dropped": {
			func(w *world) { w.putNext(6, "b@-@1") }, []registry.Write{registry.Delete(next)},
		},
		"one of long ago is dropped": {
			func(w *world) { w.putNext(4, "b@-@1") }, []registry.Write{registry.Delete(next)},
		},
		"one that cannot be read is dropped": {
			func(w *world) { w.do(registry.Put(next, "{")) }, []registry.Write{registry.Delete(next)},
		},
		"an instance that left and owns nothing is forgotten": {
			func(w *world) { w.do(registry.Put(tree.FailoverLeft("c@-@1"), "")) },
			[]registry.Write{registry.Delete(tree.FailoverLeft("c@-@1"))},
		},
		"one that left and owns items is remembered": {
			func(w *world) { w.leave("a"); w.do(registry.Put(tree.FailoverLeft("a@-@1"), "")) }, nil,
		},
		"a surplus item loses its owner": {
			func(w *world) { w.do(registry.Put(surplus, "a@-@1")) }, []registry.Write{registry.Delete(surplus)},
		},
		"and an owner of none": {
			func(w *world) { w.do(registry.Put(surplus, "")) }, []registry.Write{registry.Delete(surplus)},
		},
		"and its missed fires": {
			func(w *world) { w.do(registry.Put(tree.ItemMisfire(3), "")) }, []registry.Write{registry.Delete(tree.ItemMisfire(3))},
		},
		"and its wish for a claimant": {
			func(w *world) { w.do(registry.Put(tree.FailoverItem(3), "")) }, []registry.Write{registry.Delete(tree.FailoverItem(3))},
		},
		"and all of it at once, but not what runs and what ran": {
			func(w *world) {
				w.do(registry.Put(surplus, "a@-@1"), registry.Put(tree.ItemMisfire(3), ""), registry.Put(tree.FailoverItem(3), ""),
					registry.Put(tree.ItemNext(3), `{"term":1,"counter":5,"owner":"b@-@1"}`), registry.Put(tree.ItemRecord(3), `{"state":"idle"}`),
					registry.Put(tree.ItemDisabled(3), ""), registry.PutOwned(tree.ItemRunning(3), "a@-@1", w.session),
					registry.PutOwned(tree.ItemFailover(3), "a@-@1", w.session))
			},
			[]registry.Write{
				registry.Delete(tree.ItemNext(3)), registry.Delete(surplus),
				registry.Delete(tree.ItemMisfire(3)), registry.Delete(tree.FailoverItem(3)),
			},
		},
		"an item that counts keeps all that": {
			func(w *world) {
				w.do(registry.Put(tree.ItemMisfire(2), ""), registry.Put(tree.FailoverItem(2), ""),
					registry.Put(tree.ItemRecord(2), `{"state":"idle"}`), registry.Put(tree.ItemDisabled(2), ""))
			}, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := tidyWorld(t)
			before := w.owners()
			test.change(w)
			if test.want != nil && test.want[0].Path == next && len(test.want) == 2 {
				before[1] = "b@-@1" // it is so before it is tidied
			}
			require.Equal(t, before, w.owners())
			txns := resharding.Tidy(w.state(), w.term)
			if test.want == nil {
				require.Empty(t, txns)
				return
			}
			require.Len(t, txns, 1)
			require.Equal(t, test.want, txns[0].Then)
			guards := []registry.Condition{
				registry.CreatedAt(tree.Leader(), w.term),
				registry.Unchanged(tree.Epoch(), w.state().Epoch.Revision),
			}
			for _, write := range test.want { // so that it changes something, or conflicts
				switch {
				case write.Kind != registry.WriteDelete:
				case write.Path == tree.FailoverLeft("c@-@1"):
					guards = append(guards, registry.Present(write.Path))
				default:
					guards = append(guards, registry.Unchanged(write.Path, w.revisionOf(write.Path)))
				}
			}
			require.Equal(t, guards, txns[0].If)

			require.Nil(t, w.commit(txns...))
			require.Equal(t, before, w.owners(), "nobody's items change")
			require.Empty(t, resharding.Tidy(w.state(), w.term))
		})
	}
}

func (w *world) revisionOf(path string) registry.Revision {
	w.Helper()
	n, err := w.registry.Get(w.Context(), path)
	require.NoError(w, err)
	return n.Revision
}

func TestEachGuardOfTidyMatters(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*world)
		guard  registry.Condition // its kind and path
	}{
		"another leads":              {(*world).lead, registry.CreatedAt(tree.Leader(), 1)},
		"another epoch is in force":  {func(w *world) { w.rewrite(tree.Epoch()) }, registry.Unchanged(tree.Epoch(), 1)},
		"another owner stands there": {func(w *world) { w.putNext(6, "a@-@1") }, registry.Unchanged(tree.ItemNext(1), 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := tidyWorld(t)
			w.putNext(5, "b@-@1")
			txns := resharding.Tidy(w.state(), w.term)
			test.change(w)
			refusal := w.commit(txns...)
			require.NotNil(t, refusal)
			require.Equal(t, test.guard.Kind, refusal.Kind)
			require.Equal(t, test.guard.Path, refusal.Path)
		})
	}
}

// Chores of many items are spread over transactions of a size that every registry takes, and can be
// done in any order.
func TestManyChores(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.join("a")
	w.reshard(averagely)
	for item := 1; item <= 100; item++ {
		w.do(
			registry.Put(tree.ItemInstance(item), "a@-@1"), registry.Put(tree.ItemMisfire(item), ""),
			registry.Put(tree.ItemNext(item), `{"term":1,"counter":5,"owner":"b@-@1"}`), registry.Put(tree.FailoverItem(item), ""),
		)
		w.do(registry.Put(tree.FailoverLeft(instanceID(fmt.Sprint(item))), ""))
	}
	txns := resharding.Tidy(w.state(), w.term)
	writes := 0
	for i := range txns {
		txn := txns[len(txns)-1-i]
		require.LessOrEqual(t, max(len(txn.If), len(txn.Then)), 110)
		writes += len(txn.Then)
		require.Nil(t, w.commit(txn))
	}
	require.Equal(t, 500, writes)
	require.Greater(t, len(txns), 3)
	require.Empty(t, resharding.Tidy(w.state(), w.term))
}

// Who left and came back is no longer one who left: when it crashes later, that is a crash.
func TestWhoIsBackHasNotLeft(t *testing.T) {
	t.Parallel()
	w := tidyWorld(t)
	w.leave("a")
	w.do(registry.Put(tree.FailoverLeft("a@-@1"), ""))
	w.join("a")
	txns := resharding.Tidy(w.state(), w.term)

	w.leave("a")
	w.rewrite(tree.FailoverLeft("a@-@1"))
	require.Equal(t, tree.Instance("a@-@1"), w.commit(txns...).Path, "it left again")
	require.Empty(t, resharding.Tidy(w.state(), w.term))

	w.join("a")
	require.True(t, w.tidy())
	require.Empty(t, w.state().Left)
}

// While nobody can tell how many items there are, none is surplus.
func TestAnUnreadableEpochTakesNothingAway(t *testing.T) {
	t.Parallel()
	w := tidyWorld(t)
	w.do(registry.Put(tree.Epoch(), "{"), registry.Put(tree.ItemMisfire(1), ""), registry.Put(tree.FailoverItem(1), ""))
	require.Empty(t, resharding.Tidy(w.state(), w.term))

	plan := w.reshard(averagely)
	require.Equal(t, 3, plan.Moved)
	require.Equal(t, sharding.Assignment{"b@-@1", "a@-@1", "b@-@1"}, w.owners())
	require.Equal(t, []int{1}, w.state().FailoverItems)
	require.True(t, w.state().Item(1).Misfire.Exists())
}
