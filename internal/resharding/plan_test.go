package resharding_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/sharding"
)

// The strategies by which these tests plan: one that moves many items, one that moves few.
var (
	averagely = sharding.StrategyFunc(sharding.AverageAllocation)
	minimally = sharding.StrategyFunc(sharding.MinimalMovement)
)

func TestTheFirstPlan(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.join("a", "b")
	s := w.state()
	plan := w.plan(averagely)
	epoch := plan.Txn.Then[3]
	require.Equal(t, resharding.Plan{
		Needed: true, Instances: 2, Moved: 3, Total: 3,
		Txn: registry.Txn{
			If: []registry.Condition{
				registry.CreatedAt(tree.Leader(), w.term),
				registry.Absent(tree.Necessary()),
				registry.Unchanged(tree.Config(), s.Config.Revision),
				registry.Absent(tree.Epoch()),
				registry.CreatedAt(tree.Instance("a@-@1"), s.Instance("a@-@1").Created),
				registry.CreatedAt(tree.Instance("b@-@1"), s.Instance("b@-@1").Created),
			},
			Then: []registry.Write{
				registry.Put(tree.ItemInstance(0), "b@-@1"),
				registry.Put(tree.ItemInstance(1), "a@-@1"),
				registry.Put(tree.ItemInstance(2), "b@-@1"),
				epoch,
			},
			Repeat: registry.RepeatCreation,
		},
	}, plan)
	require.Nil(t, w.commit(plan.Txn))
	require.Equal(t, sharding.Assignment{"b@-@1", "a@-@1", "b@-@1"}, w.owners())
	inForce := w.state().Epoch.Value
	require.Equal(t, registry.Put(tree.Epoch(), jobtree.EncodeEpoch(inForce)), epoch)
	require.Equal(t, w.term, inForce.Term)
	require.Equal(t, 3, inForce.Total)
}

// Each row starts with instances a and b and six items, which are split evenly.
func TestWhatChangesAPlan(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change    func(*world)
		instances int
		moved     int
		want      string // the servers that own the items 0, 1, …
	}{
		"nothing":            {func(*world) {}, 2, 0, "bbbaaa"},
		"an instance joins":  {func(w *world) { w.join("c") }, 3, 3, "ccbbaa"},
		"an instance leaves": {func(w *world) { w.leave("a") }, 1, 3, "bbbbbb"},
		"all leave, and nobody is there to whom it matters": {
			func(w *world) { w.leave("a"); w.leave("b") }, 0, 0, "bbbaaa",
		},
		"a server is disabled":       {func(w *world) { w.disable("b") }, 1, 3, "aaaaaa"},
		"an idle server is disabled": {func(w *world) { w.disable("c") }, 2, 0, "bbbaaa"},
		"all servers are disabled":   {func(w *world) { w.disable("a"); w.disable("b") }, 0, 0, "bbbaaa"},
		"the job is disabled":        {func(w *world) { w.configure(func(c *job.Config) { c.Disabled = true }) }, 0, 0, "bbbaaa"},
		"the job is disabled, whatever is said of a server": {
			func(w *world) {
				w.configure(func(c *job.Config) { c.Disabled = true })
				w.do(registry.Put(tree.Server("b"), ""))
			}, 0, 0, "bbbaaa",
		},
		"the total is raised":  {func(w *world) { w.configure(func(c *job.Config) { c.ShardingTotalCount = 8 }) }, 2, 3, "bbbbaaaa"},
		"the total is lowered": {func(w *world) { w.configure(func(c *job.Config) { c.ShardingTotalCount = 4 }) }, 2, 1, "bbaa"},
		"an item has no owner": {func(w *world) { w.do(registry.Delete(tree.ItemInstance(5))) }, 2, 1, "bbbaaa"},
		"an item has another":  {func(w *world) { w.do(registry.Put(tree.ItemInstance(0), "c@-@1")) }, 2, 1, "bbbaaa"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 6)
			w.join("a", "b")
			w.reshard(averagely)
			before := w.state().Epoch.Value
			test.change(w)

			plan := w.reshard(averagely)
			require.Equal(t, test.instances, plan.Instances)
			require.Equal(t, test.moved, plan.Moved)
			require.Equal(t, test.moved > 0, plan.Needed)
			require.Equal(t, w.cfg.ShardingTotalCount, plan.Total)
			require.Empty(t, plan.Parts)
			var want sharding.Assignment
			for _, server := range test.want {
				want = append(want, instanceID(string(server)))
			}
			require.Equal(t, want, w.owners())
			require.Equal(t, plan.Needed, w.state().Epoch.Value != before, "a new assignment has a new epoch, and only that")
			require.False(t, w.plan(averagely).Needed, "and then it is done")
		})
	}
}

// An assignment of which only the size changes is a new one, too: readers go by the epoch's total.
func TestATotalThatMovesNothingIsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.join("a")
	w.reshard(averagely)
	w.configure(func(c *job.Config) { c.ShardingTotalCount = 1 })
	plan := w.plan(averagely)
	require.True(t, plan.Needed)
	require.Zero(t, plan.Moved)
	require.Nil(t, w.commit(plan.Txn))
	require.Equal(t, 1, w.state().Total())
}

// A leader without an answer of the strategy counts anew: who has items keeps them, and those that come, or come back, belong to
// nobody until there is one.
func TestANewCountWithoutTheStrategy(t *testing.T) {
	t.Parallel()
	const a, b = "a@-@1", "b@-@1"
	for _, items := range []int{5, 250} {
		w := newWorld(t, items)
		w.join("a", "b")
		w.reshard(averagely)
		before := w.owners()
		count := func(total int) {
			w.configure(func(c *job.Config) { c.ShardingTotalCount = total })
			plan := resharding.PlanCounting(w.state(), w.term)
			require.True(t, plan.Needed)
			require.Zero(t, plan.Moved)
			require.Empty(t, plan.Parts)
			require.Nil(t, w.commit(plan.Txn))
			require.NotNil(t, w.commit(plan.Txn), "a late copy changes nothing")
			w.tidy()
			require.False(t, resharding.PlanCounting(w.state(), w.term).Needed, "and then it is done")
		}
		require.False(t, resharding.PlanCounting(w.state(), w.term).Needed)
		count(2)
		require.Equal(t, before[:2], w.owners())
		w.leave("b")
		count(items + 1)
		require.Equal(t, append(before[:2:2], sharding.NewAssignment(items-1)...), w.owners())
		require.Contains(t, before[2:], b)
		w.reshard(averagely)
		require.NotContains(t, w.owners(), b)
		require.NotContains(t, w.owners(), "")
		require.Contains(t, w.owners(), a)
	}
}

// Nobody counts for whom it does not matter, or who would take it for something else.
func TestANewCountThatStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.configure(func(c *job.Config) { c.ShardingTotalCount = 4 })
	require.False(t, resharding.PlanCounting(w.state(), w.term).Needed, "there is no member")
	w.join("a")
	require.False(t, resharding.PlanCounting(w.state(), w.term).Needed, "there is no assignment yet")
	w.reshard(averagely)
	w.configure(func(c *job.Config) { c.ShardingTotalCount = 5 })
	require.True(t, resharding.PlanCounting(w.state(), w.term).Needed)
	s := w.state()
	s.ShareWithJava()
	require.False(t, resharding.PlanCounting(s, w.term).Needed, "Java counts owners")
}

// Where only Java led so far there is an assignment and no epoch. It is taken over as it is.
func TestAnAssignmentWithoutAnEpochIsTakenOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 2)
	w.join("a")
	w.do(registry.Put(tree.ItemInstance(0), "a@-@1"), registry.Put(tree.ItemInstance(1), "a@-@1"))
	plan := w.plan(averagely)
	require.True(t, plan.Needed)
	require.Zero(t, plan.Moved)
	require.Len(t, plan.Txn.Then, 1)
	require.Nil(t, w.commit(plan.Txn))
	require.True(t, w.state().Epoch.Exists())
	require.False(t, w.plan(averagely).Needed)
}

// Who asks for a resharding is answered even if there is nothing to change: the request goes, and
// the epoch stays as it is.
func TestARequestIsHonoured(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.join("a")
	w.reshard(averagely)
	asked := w.do(registry.Put(tree.Necessary(), ""))
	plan := w.plan(averagely)
	require.True(t, plan.Needed)
	require.Zero(t, plan.Moved)
	require.Equal(t, []registry.Write{registry.Delete(tree.Necessary())}, plan.Txn.Then)
	require.Contains(t, plan.Txn.If, registry.Unchanged(tree.Necessary(), asked))
	require.Nil(t, w.commit(plan.Txn))
	require.False(t, w.plan(averagely).Needed)
}

func TestTheLimitOfOneTransaction(t *testing.T) {
	t.Parallel()
	for total, parts := range map[int]int{110: 0, 111: 5, 216: 8, 217: 9} {
		w := newWorld(t, total)
		w.join("a")
		require.Len(t, w.plan(averagely).Parts, parts, "%d items", total)
	}
}

// A resharding in parts shows every reader the old assignment until the last commit, and then the
// new one; clearing up afterwards changes neither.
func TestALargePlanComesIntoForceAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 250)
	w.join("a")
	w.reshard(averagely)
	before := w.owners()
	w.leave("a")
	w.join("b", "c")
	w.do(registry.Put(tree.Necessary(), ""))

	plan := w.plan(averagely)
	require.Equal(t, 250, plan.Moved)
	for _, part := range plan.Parts {
		require.Contains(t, part.If, registry.CreatedAt(tree.Leader(), w.term))
		require.Nil(t, w.commit(part))
		require.NotNil(t, w.commit(part), "it does not replace what is there")
		require.Equal(t, before, w.owners())
	}
	require.Len(t, plan.Txn.Then, 2, "the epoch and the request")
	require.Nil(t, w.commit(plan.Txn))
	after, err := sharding.AverageAllocation(sharding.Request{Instances: []string{"b@-@1", "c@-@1"}, Total: 250})
	require.NoError(t, err)
	require.Equal(t, after, w.owners())
	require.Zero(t, w.state().Necessary)

	for _, txn := range resharding.Tidy(w.state(), w.term) {
		require.Nil(t, w.commit(txn))
		require.Equal(t, after, w.owners())
	}
	require.Empty(t, resharding.Tidy(w.state(), w.term))
	for _, part := range plan.Parts {
		require.NotNil(t, w.commit(part), "a copy that is late meets another epoch")
	}
	require.False(t, w.plan(averagely).Needed)
	s := w.state()
	for item := range s.Total() {
		require.False(t, s.Item(item).Next.Exists())
		require.Equal(t, after[item], s.Item(item).Instance)
	}
}

// The order of parts does not matter.
func TestPartsAreIndependent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 250)
	w.join("a")
	plan := w.plan(averagely)
	for i := range plan.Parts {
		require.Nil(t, w.commit(plan.Parts[len(plan.Parts)-1-i]))
	}
	require.Equal(t, make(sharding.Assignment, 250), w.owners())
	require.Nil(t, w.commit(plan.Txn))
	require.NotContains(t, w.owners(), "")
}

// A leader that dies between the parts and what puts them into force leaves the old assignment, and
// its successor's plan brings none of them back.
func TestAPlanIsAbandoned(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 250)
	w.join("a")
	w.reshard(averagely)
	before := w.owners()
	w.join("b")
	abandoned := w.plan(averagely)
	require.Nil(t, w.commit(abandoned.Parts[0]))

	w.leave("b")
	w.lead()
	require.Equal(t, &registry.Condition{
		Kind: registry.CondCreatedAt, Path: tree.Leader(), Revision: abandoned.Parts[1].If[0].Revision,
	}, w.commit(abandoned.Parts[1]), "a former leader's part")
	require.NotNil(t, w.commit(abandoned.Txn))
	require.True(t, w.tidy())
	require.False(t, w.plan(averagely).Needed)
	require.Equal(t, before, w.owners())
}

// The number of an assignment that was abandoned halfway is never used again, even after its parts
// were cleared up: one that a slow registry carries out yet must not come into force with others.
func TestAnEpochIsNeverUsedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 250)
	w.join("a")
	w.reshard(averagely)
	w.join("b")
	abandoned := w.plan(averagely)
	require.Nil(t, w.commit(abandoned.Parts[1:]...))

	w.leave("b")
	w.join("c")
	w.tidy()
	plan := w.plan(minimally)
	require.Nil(t, w.commit(plan.Parts...))
	require.Nil(t, w.commit(abandoned.Parts[0]), "late")
	require.Nil(t, w.commit(plan.Txn))
	require.NotContains(t, w.owners(), "b@-@1")
	require.NotEqual(t, epochOf(t, abandoned), epochOf(t, plan))
}

// epochOf is the epoch that a plan puts into force.
func epochOf(t *testing.T, plan resharding.Plan) jobtree.Epoch {
	t.Helper()
	for _, write := range plan.Txn.Then {
		if write.Path == tree.Epoch() {
			epoch, err := jobtree.DecodeEpoch(registry.Node{Path: write.Path, Value: write.Value})
			require.NoError(t, err)
			return epoch
		}
	}
	require.Fail(t, "the plan has no epoch")
	return jobtree.Epoch{}
}

func TestEpochsGrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 4)
	var last jobtree.Epoch
	for n := range 4 {
		if n == 2 {
			w.lead()
		}
		w.join(fmt.Sprint(n))
		epoch := epochOf(t, w.reshard(averagely))
		require.Equal(t, w.term, epoch.Term)
		require.Positive(t, epoch.Counter)
		require.True(t, epoch.Term > last.Term || epoch.Term == last.Term && epoch.Counter > last.Counter,
			"%v after %v", epoch, last)
		last = epoch
	}
}

// Of many members not all fit into the guards of one transaction; it is planned all the same.
func TestVeryManyMembers(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 110)
	for n := range 130 {
		w.join(fmt.Sprint(n))
	}
	w.do(registry.Put(tree.Necessary(), ""))
	plan := w.plan(averagely)
	require.Equal(t, 130, plan.Instances)
	require.Len(t, plan.Txn.If, 12)
	require.Nil(t, w.commit(plan.Txn))
	require.Len(t, w.owners().ByInstance(), 110)
}

func TestAStrategyFails(t *testing.T) {
	t.Parallel()
	sick := errors.New("out of ideas")
	for name, test := range map[string]struct {
		strategy sharding.Strategy
		check    func(*testing.T, error)
	}{
		"with an error": {
			sharding.StrategyFunc(func(sharding.Request) (sharding.Assignment, error) { return nil, sick }),
			func(t *testing.T, err error) { t.Helper(); require.ErrorIs(t, err, sick) },
		},
		"with a panic": {
			sharding.StrategyFunc(func(sharding.Request) (sharding.Assignment, error) { panic(sick) }),
			func(t *testing.T, err error) {
				t.Helper()
				var panicked *job.PanicError
				require.ErrorAs(t, err, &panicked)
			},
		},
		"with nonsense": {
			sharding.StrategyFunc(func(sharding.Request) (sharding.Assignment, error) {
				return sharding.Assignment{"b@-@1", "b@-@1"}, nil
			}),
			func(t *testing.T, err error) { t.Helper(); require.ErrorIs(t, err, sharding.ErrInvalidAssignment) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 2)
			w.join("a")
			plan, err := resharding.PlanOf(w.state(), test.strategy, w.term)
			test.check(t, err)
			require.Zero(t, plan)
		})
	}
}

// A strategy is asked for what counts: the job, enabled members, the total to be and the present
// owners.
func TestWhatAStrategyIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.join("c", "a", "b")
	w.reshard(averagely)
	w.disable("b")
	w.configure(func(c *job.Config) { c.ShardingTotalCount = 4 })
	var asked sharding.Request
	w.plan(sharding.StrategyFunc(func(r sharding.Request) (sharding.Assignment, error) {
		asked = r
		return sharding.AverageAllocation(r)
	}))
	require.ElementsMatch(t, []string{"a@-@1", "c@-@1"}, asked.Instances)
	asked.Instances = nil
	require.Equal(t, sharding.Request{
		Job: "orders", Total: 4, Current: sharding.Assignment{"c@-@1", "b@-@1", "a@-@1", ""},
	}, asked)
}

// What a plan was made from must still be so when it is committed.
func TestEachGuardOfAPlanMatters(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*world)
		guard  registry.Condition // its kind and path
	}{
		"another leads":          {(*world).lead, registry.CreatedAt(tree.Leader(), 1)},
		"nobody leads":           {func(w *world) { w.do(registry.Delete(tree.Leader())) }, registry.CreatedAt(tree.Leader(), 1)},
		"another request came":   {func(w *world) { w.rewrite(tree.Necessary()) }, registry.Unchanged(tree.Necessary(), 1)},
		"the request is gone":    {func(w *world) { w.do(registry.Delete(tree.Necessary())) }, registry.Unchanged(tree.Necessary(), 1)},
		"settings changed":       {func(w *world) { w.configure(func(c *job.Config) { c.JobParameter = "x" }) }, registry.Unchanged(tree.Config(), 1)},
		"another epoch came":     {func(w *world) { w.rewrite(tree.Epoch()) }, registry.Unchanged(tree.Epoch(), 1)},
		"a member is gone":       {func(w *world) { w.leave("b") }, registry.CreatedAt(tree.Instance("b@-@1"), 1)},
		"a member was restarted": {func(w *world) { w.leave("a"); w.join("a") }, registry.CreatedAt(tree.Instance("a@-@1"), 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, total := range []int{3, 150} {
				w := newWorld(t, total)
				w.join("a", "b")
				w.do(
					registry.Put(tree.Necessary(), ""),
					registry.Put(tree.Epoch(), jobtree.EncodeEpoch(jobtree.Epoch{Term: w.term - 1, Counter: 1, Total: total})),
				)
				plan := w.plan(averagely)
				require.Nil(t, w.commit(plan.Parts...))
				test.change(w)
				refusal := w.commit(plan.Txn)
				require.NotNil(t, refusal)
				require.Equal(t, test.guard.Kind, refusal.Kind)
				require.Equal(t, test.guard.Path, refusal.Path)
				require.Equal(t, make(sharding.Assignment, total), w.owners())
			}
		})
	}
}

// A plan is carried out at most once, also if nobody asked for it: the registry repeats a transaction
// whose answer got lost.
func TestAPlanIsCarriedOutOnce(t *testing.T) {
	t.Parallel()
	for _, total := range []int{3, 150} {
		w := newWorld(t, total)
		w.join("a", "b")
		plan := w.plan(averagely)
		require.Nil(t, w.commit(plan.Parts...))
		require.Nil(t, w.commit(plan.Txn))
		require.NotNil(t, w.commit(plan.Txn))
	}
}

// What is none of a plan's business does not stop it.
func TestAPlanIsNotRefusedForNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 3)
	w.join("a", "b")
	plan := w.plan(averagely)
	w.do(registry.Update(tree.Instance("a@-@1"), jobtree.InstanceTriggered))
	w.do(registry.Update(tree.Leader(), "leader@-@1"))
	w.do(registry.PutOwned(tree.ItemRunning(0), "a@-@1", w.session))
	w.join("c")
	require.Nil(t, w.commit(plan.Txn))
}
