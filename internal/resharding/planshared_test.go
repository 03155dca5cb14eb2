package resharding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/job"
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

// Java takes the mark away of an execution that goes on, which its record says as long as its session lasts.
func TestASharedPlanLeavesWhatRunsWithoutAMark(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lives bool
		held  []int
	}{"its process lives": {true, []int{1}}, "its process is gone": {false, nil}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 4)
			w.join("10.0.0.1")
			require.Equal(t, 4, w.reshardShared().Moved)
			session := w.sharedState().Instance(instanceID("10.0.0.1")).Session
			if !test.lives {
				session++
			}
			fire := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
			record, err := jobtree.Record{}.Begin(jobtree.Begin{
				Instance: instanceID("10.0.0.1"), Session: session, Source: job.Scheduled, Fire: fire, Time: fire,
			})
			require.NoError(t, err)
			w.do(registry.Put(tree.ItemRecord(1), jobtree.EncodeRecord(record)))
			w.join("10.0.0.2")
			w.do(registry.Put(tree.Necessary(), ""))
			require.Equal(t, test.held, w.reshardShared().Held)
		})
	}
}

// A Java instance of 2.1.5 that starts writes its server first and its instance a moment later. Without the server nobody leads
// once it is alone, so what was written of servers stays.
func TestServersOfAJobThatJavaSharesStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1)
	w.join("10.0.0.1")
	w.reshardShared()
	w.do(registry.Put(tree.Server("10.0.0.2"), ""))
	require.Empty(t, resharding.GarbageOf(w.sharedState(), w.term, time.Time{}, 10).Txns)
	require.Len(t, resharding.GarbageOf(w.state(), w.term, time.Time{}, 10).Txns, 1)
}

// An item that runs without an owner, as somebody claimed it when its owner left, gets who runs it: while the last items have no
// owner, nothing of the job begins.
func TestASharedPlanGivesWhatRunsWithoutAnOwnerToWhoRunsIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	w.join("10.0.0.1")
	w.join("10.0.0.2")
	w.reshardShared()
	w.mark(3)
	w.do(registry.Delete(tree.ItemInstance(3)), registry.Put(tree.Necessary(), ""))
	runner := w.sharedState().Runner(3)
	require.NotEmpty(t, runner)
	require.Equal(t, 3, w.sharedState().Total())
	require.Equal(t, []int{3}, w.reshardShared().Held, "it moves when it has ended")
	require.Equal(t, 4, w.sharedState().Total())
	require.Equal(t, runner, w.sharedState().Owner(3))
}
