package resharding_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/sharding"
)

// leaveAlone is what "a" commits that leads and leaves, with so many conditions on the marks of what it runs.
func (w *world) leaveAlone(marks int) registry.Txn {
	w.Helper()
	mine := tree.Instance(instanceID("a"))
	txn := registry.Txn{
		If: []registry.Condition{
			registry.CreatedAt(mine, w.state().Instance(instanceID("a")).Created),
			registry.Present(tree.Config()), registry.CreatedAt(tree.Leader(), w.term),
		},
		Then: []registry.Write{registry.Delete(mine), registry.Put(tree.Necessary(), ""), registry.Delete(tree.Leader())},
	}
	for n := range marks {
		txn.If = append(txn.If, registry.Absent(tree.ItemRunning(n)))
	}
	return txn
}

func (w *world) planLeave(marks int) (resharding.Plan, bool) {
	w.Helper()
	plan, ok, err := resharding.PlanLeave(w.state(), averagely, w.term, instanceID("a"), nil, w.leaveAlone(marks))
	require.NoError(w, err)
	return plan, ok
}

func TestALeaderLeavesItsItemsToTheOthers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		total int
		owns  bool // it had items before it led
	}{{1, true}, {6, true}, {110, true}, {6, false}} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, test.total)
			w.join("b", "c")
			if test.owns {
				w.join("a")
			}
			w.reshard(averagely)
			w.tidy()
			if !test.owns {
				w.join("a")
			}
			plan, ok := w.planLeave(3)
			require.True(t, ok)
			require.Equal(t, 2, plan.Instances)
			require.True(t, plan.Txn.EndsItself(), "so it may be repeated")
			require.Nil(t, w.commit(plan.Txn))
			s := w.state()
			require.Zero(t, s.Leader.Created)
			require.Zero(t, s.Instance(instanceID("a")).Created)
			require.NotContains(t, w.owners(), instanceID("a"))
			w.lead()
			w.tidy()
			require.False(t, w.plan(averagely).Needed, "the next leader has nothing to do")
		})
	}
}

// A leader that leaves does so alone where it cannot give its items away in the same transaction.
func TestALeaveThatGoesAlone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*world)
		marks  int
	}{
		"nobody else is there":    {func(w *world) { w.leave("b") }, 0},
		"all others are disabled": {func(w *world) { w.disable("b") }, 0},
		"much runs there":         {func(*world) {}, 60},
		"more items than it has room for": {func(w *world) {
			w.configure(func(cfg *job.Config) { cfg.ShardingTotalCount = 250 })
			w.reshard(averagely)
			w.tidy()
		}, 0},
		"an owner is still to be noted": {func(w *world) { w.do(registry.Put(tree.ItemNext(0), `{"epoch":"1.1","owner":"b@-@1"}`)) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 6)
			w.join("a", "b")
			w.reshard(averagely)
			_, ok := w.planLeave(test.marks)
			require.Equal(t, true, ok || test.marks > 0)
			test.change(w)
			_, ok = w.planLeave(test.marks)
			require.False(t, ok)
		})
	}
	w := newWorld(t, 6)
	w.join("a", "b")
	narrowed := w.state()
	narrowed.Narrow([]int{0})
	_, ok, err := resharding.PlanLeave(narrowed, averagely, w.term, instanceID("a"), nil, w.leaveAlone(0))
	require.NoError(t, err)
	require.False(t, ok, "of items that are not followed nobody knows what was lost")
	broken := sharding.StrategyFunc(func(sharding.Request) (sharding.Assignment, error) { return nil, errors.New("broken") })
	_, ok, err = resharding.PlanLeave(w.state(), broken, w.term, instanceID("a"), nil, w.leaveAlone(0))
	require.ErrorContains(t, err, "broken")
	require.False(t, ok)
}

// Whatever a leave compares and writes, the transaction keeps within what every registry takes: 128 conditions, with one
// for each plain put, and 128 writes.
func TestALeaveHasRoom(t *testing.T) {
	t.Parallel()
	for _, total := range []int{1, 90, 100, 110, 300} {
		w := newWorld(t, total)
		w.join("a", "b")
		for n := range 60 {
			w.join(fmt.Sprintf("c%d", n))
		}
		w.do(registry.Put(tree.Necessary(), ""))
		for _, marks := range []int{0, 1, 30, 58} {
			plan, ok := w.planLeave(marks)
			if !ok {
				require.Greater(t, total+marks, 100, "%d items, %d marks", total, marks)
				continue
			}
			require.Empty(t, plan.Parts)
			puts := 0
			for _, write := range plan.Txn.Then {
				if write.Kind == registry.WritePut {
					puts++
				}
			}
			require.LessOrEqual(t, len(plan.Txn.If)+puts, 128, "%d items, %d marks", total, marks)
			require.LessOrEqual(t, len(plan.Txn.Then), 128)
			require.NoError(t, plan.Txn.Check())
		}
	}
}

// What the plan goes by must still be so, or the leader stays.
func TestEachGuardOfALeaveMatters(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change  func(*world)
		refused string
	}{
		"it leads no more":        {(*world).lead, tree.Leader()},
		"another joins":           {func(w *world) { w.do(registry.Put(tree.Necessary(), "")) }, tree.Necessary()},
		"the settings change":     {func(w *world) { w.rewrite(tree.Config()) }, tree.Config()},
		"a heir is gone":          {func(w *world) { w.leave("b") }, tree.Instance(instanceID("b"))},
		"its own instance is":     {func(w *world) { w.leave("a") }, tree.Instance(instanceID("a"))},
		"the items have moved":    {func(w *world) { w.rewrite(tree.Epoch()) }, tree.Epoch()},
		"what it runs has a mark": {func(w *world) { w.do(registry.Put(tree.ItemRunning(0), "")) }, tree.ItemRunning(0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 6)
			w.join("a", "b", "c")
			w.reshard(averagely)
			plan, ok := w.planLeave(1)
			require.True(t, ok)
			test.change(w)
			before := w.owners()
			refusal := w.commit(plan.Txn)
			require.NotNil(t, refusal)
			require.Equal(t, test.refused, refusal.Path)
			require.Equal(t, before, w.owners())
		})
	}
}
