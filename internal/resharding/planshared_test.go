package resharding_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/sharding"
)

// sharedState is [world.state] as it is read where Java instances share the job.
func (w *world) sharedState() *jobtree.State {
	w.Helper()
	nodes, revision, err := w.registry.List(w.Context(), tree.Root())
	require.NoError(w, err)
	s := jobtree.NewState("orders")
	s.ShareWithJava()
	step := registry.Step{Snapshot: registry.NewSnapshot(revision, nodes)}
	for _, n := range nodes {
		step.Changes = append(step.Changes, registry.Change{New: n})
	}
	s.Apply(step)
	return s
}

func (w *world) planShared() resharding.Plan {
	w.Helper()
	plan, err := resharding.PlanOf(w.sharedState(), average, w.term)
	require.NoError(w, err)
	return plan
}

var average = sharding.StrategyFunc(sharding.AverageAllocation)

func (w *world) reshardShared() resharding.Plan {
	w.Helper()
	require.Nil(w, w.commit(resharding.Tidy(w.sharedState(), w.term)...))
	plan := w.planShared()
	require.Empty(w, plan.Parts, "Java knows one transaction only")
	if plan.Needed {
		require.Nil(w, w.commit(plan.Txn))
	}
	return plan
}

// leaving lists what others are to have of an instance's items.
func (w *world) leaving(ip string) []int {
	w.Helper()
	items, err := resharding.Leaving(w.sharedState(), average, instanceID(ip))
	require.NoError(w, err)
	return items
}

func (w *world) mark(item int) { w.do(registry.PutOwned(tree.ItemRunning(item), "", w.session)) }

func (w *world) unmark(item int) { w.do(registry.Delete(tree.ItemRunning(item))) }

func TestASharedPlanMovesWhatDoesNotRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	w.join("10.0.0.1")
	require.Equal(t, 4, w.reshardShared().Moved)
	w.mark(1)
	w.join("10.0.0.2")
	w.do(registry.Put(tree.Necessary(), ""))
	plan := w.reshardShared()
	require.Equal(t, 1, plan.Moved)
	require.Equal(t, []int{1}, plan.Held)
	require.Equal(t, []int{1}, w.leaving("10.0.0.1"))
	require.Empty(t, w.leaving("10.0.0.2"))
	s := w.sharedState()
	require.Zero(t, s.Necessary, "nobody waits for what runs")
	require.Equal(t, []string{instanceID("10.0.0.2"), instanceID("10.0.0.1"), instanceID("10.0.0.1"), instanceID("10.0.0.1")},
		[]string(ownersOf(s)))
	w.unmark(1)
	plan = w.reshardShared()
	require.Equal(t, 1, plan.Moved)
	require.Empty(t, plan.Held)
	require.False(t, w.planShared().Needed)
}

// An item that began after the plan was made stays, too.
func TestASharedPlanIsRefusedWhenWhatItMovesBegins(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.join("10.0.0.1", "10.0.0.2")
	plan := w.planShared()
	w.mark(0)
	refusal := w.commit(plan.Txn)
	require.NotNil(t, refusal)
	require.Equal(t, tree.ItemRunning(0), refusal.Path)
}

// Whoever is of ours writes the record when it begins and when it ends, so an item that goes to Java is one
// that has not run since the plan was made.
func TestASharedPlanIsRefusedWhenWhatGoesToJavaHasRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	const ours = "10.0.0.1@-@ours"
	w.do(registry.PutOwned(tree.Instance(ours), "", w.session))
	w.reshardShared()
	require.Equal(t, ours, w.sharedState().Owner(0))
	w.do(registry.PutOwned(tree.Instance("10.0.0.2@-@7"), "", w.session))
	plan := w.planShared()
	require.Equal(t, 1, plan.Moved)
	w.do(registry.Put(tree.ItemRecord(0), "{}"))
	refusal := w.commit(plan.Txn)
	require.NotNil(t, refusal)
	require.Equal(t, tree.ItemRecord(0), refusal.Path)

	held, err := resharding.PlanHolding(w.sharedState(), average, w.term, nil, func(from, to string) bool { return from == ours && to != ours })
	require.NoError(t, err)
	require.Zero(t, held.Moved)
	require.Equal(t, []int{0}, held.Held)
}

// Of the items that are too many now, Java deletes all that it finds below sharding; we leave the
// records, and take the owners.
func TestASharedPlanTakesSurplusOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5)
	w.join("10.0.0.1")
	w.reshardShared()
	w.cfg.ShardingTotalCount = 2
	w.rewriteConfig()
	w.reshardShared()
	require.Equal(t, 2, w.sharedState().Total())
	require.Len(t, ownersOf(w.sharedState()), 2)
	require.False(t, w.planShared().Needed)
}

func (w *world) rewriteConfig() {
	w.Helper()
	text, err := jobtree.EncodeConfig(w.cfg)
	require.NoError(w, err)
	w.do(registry.Put(tree.Config(), text))
}

// A new leader says so, even if it has nothing to move: until then it counts as Java.
func TestASharedPlanMarksTheTerm(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.join("10.0.0.1")
	w.reshardShared()
	w.lead()
	require.True(t, w.sharedState().LedByJava())
	plan := w.reshardShared()
	require.True(t, plan.Needed)
	require.Zero(t, plan.Moved)
	require.False(t, w.sharedState().LedByJava())
	require.False(t, w.planShared().Needed)
}

// While a Java leader assigns anew, items have no owners; what waits for them is kept.
func TestTidyKeepsWhatAJavaLeaderIsAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.do(registry.Put(tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: w.term, Counter: 1, Total: 2})),
		registry.Put(tree.ItemMisfire(1), ""), registry.Put(tree.FailoverItem(1), ""), registry.Put(tree.ItemMisfire(2), ""))
	require.Nil(t, w.commit(resharding.Tidy(w.sharedState(), w.term)...))
	s := w.sharedState()
	require.True(t, s.Item(1).Misfire.Exists())
	require.NotZero(t, s.Item(1).FailoverItem)
	require.False(t, s.Item(2).Misfire.Exists(), "surplus by the settings, too")
}

// However members, marks and totals change, the request is answered at once, and when nothing runs the
// assignment is Java's.
func TestSharedPlansComeToJavasAssignment(t *testing.T) {
	t.Parallel()
	servers := []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, 3)
		live, marked := map[string]bool{}, map[int]bool{}
		w.join("10.0.0.9")
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "deed") {
			case 0:
				server := rapid.SampledFrom(servers).Draw(t, "server")
				if live[server] {
					w.leave(server)
				} else {
					w.join(server)
				}
				live[server] = !live[server]
			case 1:
				item := rapid.IntRange(0, 5).Draw(t, "item")
				if marked[item] {
					w.unmark(item)
				} else {
					w.mark(item)
				}
				marked[item] = !marked[item]
			default:
				w.cfg.ShardingTotalCount = rapid.IntRange(1, 6).Draw(t, "total")
				w.rewriteConfig()
			}
			w.do(registry.Put(tree.Necessary(), ""))
			before := w.sharedState()
			w.reshardShared()
			after := w.sharedState()
			require.Zero(t, after.Necessary)
			for item := range min(before.Total(), after.Total()) {
				if marked[item] && before.Owner(item) != "" {
					require.Equal(t, before.Owner(item), after.Owner(item), "item %d runs", item)
				}
			}
		}
		for item, is := range marked {
			if is {
				w.unmark(item)
			}
		}
		w.reshardShared()
		s := w.sharedState()
		ids := []string{instanceID("10.0.0.9")}
		for server, is := range live {
			if is {
				ids = append(ids, instanceID(server))
			}
		}
		want, err := sharding.Run(average, sharding.Request{Job: "orders", Instances: ids, Total: w.cfg.ShardingTotalCount})
		require.NoError(t, err)
		require.Equal(t, want, ownersOf(s))
	})
}
