package resharding_test

import (
	"fmt"
	"slices"
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

// nothing stands for a node that is not there, where a value is drawn.
const nothing = "nothing"

// drawPut draws the value of a node from some, or nothing.
func drawPut(t *rapid.T, path string, values ...string) []registry.Write {
	value := rapid.SampledFrom(append(values, nothing)).Draw(t, path)
	if value == nothing {
		return nil
	}
	return []registry.Write{registry.Put(path, value)}
}

// drawWorld draws a job as a leader may find it: members that came and went, settings that changed,
// assignments of this term and of a former one, in force or written halfway, and items with all that
// they can have.
func drawWorld(t *rapid.T) *world {
	total := rapid.OneOf(rapid.IntRange(1, 12), rapid.IntRange(105, 125)).Draw(t, "total")
	w := newWorld(t, total)
	w.configure(func(c *job.Config) { c.Disabled = rapid.Bool().Draw(t, "disabled") })
	servers := []string{"a", "b", "c", "d"}
	w.join(rapid.SliceOfDistinct(rapid.SampledFrom(servers), rapid.ID).Draw(t, "members")...)

	owners := []string{""}
	writes := drawPut(t, tree.Necessary(), "")
	for _, server := range servers {
		owners = append(owners, instanceID(server))
		writes = append(writes, drawPut(t, tree.Server(server), "", "DISABLED")...)
		writes = append(writes, drawPut(t, tree.FailoverLeft(instanceID(server)), "")...)
	}
	var epochs, nexts []string
	for _, epoch := range []jobtree.Epoch{{Term: w.term - 1, Counter: 1}, {Term: w.term, Counter: 1}, {Term: w.term, Counter: 2}} {
		epoch.Total = rapid.IntRange(1, total+3).Draw(t, "former total")
		epochs = append(epochs, jobtree.EncodeEpoch(epoch))
		for _, owner := range owners[1:] {
			nexts = append(nexts, jobtree.EncodeNext(jobtree.Next{Epoch: epoch.ID(), Owner: owner}))
		}
	}
	writes = append(writes, drawPut(t, tree.Epoch(), epochs...)...)
	for item := range total + 3 {
		writes = append(writes, drawPut(t, tree.ItemInstance(item), owners...)...)
		writes = append(writes, drawPut(t, tree.ItemNext(item), append(nexts, "{", nothing, nothing, nothing)...)...)
		writes = append(writes, drawPut(t, tree.ItemMisfire(item), "", nothing, nothing)...)
	}
	for some := range slices.Chunk(writes, 100) {
		w.do(some...)
	}
	return w
}

// drawStrategy draws one of the built-in ones.
func drawStrategy(t *rapid.T) sharding.Strategy {
	strategies := sharding.Default()
	strategy, err := strategies.Lookup(rapid.SampledFrom(strategies.Names()).Draw(t, "strategy"))
	require.NoError(t, err)
	return strategy
}

// enabledMembers are the instances that may get items.
func enabledMembers(s *jobtree.State) []string {
	var ids []string
	for _, instance := range s.Instances {
		if s.Enabled(instance.ID) {
			ids = append(ids, instance.ID)
		}
	}
	return ids
}

// Whatever a leader finds: what it does gives the assignment that its strategy wants, every commit on
// the way shows the old assignment or the new one, and then nothing is left to be done.
func TestAPlanGivesWhatTheStrategyWants(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, strategy := drawWorld(t), drawStrategy(t)
		before := w.owners()
		for _, txn := range resharding.Tidy(w.state(), w.term) {
			require.Nil(t, w.commit(txn))
			require.Equal(t, before, w.owners())
		}
		s := w.state()
		want := before
		if members := enabledMembers(s); len(members) > 0 {
			var err error
			want, err = sharding.Run(strategy, sharding.Request{
				Job: "orders", Instances: members, Total: s.Config.Value.ShardingTotalCount, Current: before,
			})
			require.NoError(t, err)
		}
		plan := w.plan(strategy)
		if plan.Needed {
			for _, part := range plan.Parts {
				require.Nil(t, w.commit(part))
				require.Equal(t, before, w.owners())
			}
			require.Nil(t, w.commit(plan.Txn))
		}
		require.Equal(t, want, w.owners())

		w.tidy()
		require.Equal(t, want, w.owners())
		require.Empty(t, resharding.Tidy(w.state(), w.term))
		require.Equal(t, resharding.Plan{Instances: plan.Instances, Total: plan.Total}, withoutTxn(w.plan(strategy)))
	})
}

// withoutTxn leaves out what a plan that is not needed has to no purpose.
func withoutTxn(p resharding.Plan) resharding.Plan {
	if !p.Needed {
		p.Txn = registry.Txn{}
	}
	return p
}

// No assignment has an epoch of which a part was ever written before.
func TestNoPlanRevivesAnother(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, strategy := drawWorld(t), drawStrategy(t)
		s := w.state()
		used := map[jobtree.EpochID]bool{s.Epoch.Value.ID(): true}
		for item := range s.Items() {
			if next := s.Item(item).Next; next.Exists() {
				used[next.Value.Epoch] = true
			}
		}
		w.tidy()
		if plan := w.plan(strategy); plan.Needed {
			require.Nil(t, w.commit(plan.Txn))
			if after := w.state().Epoch; after.Revision > s.Revision {
				require.NotContains(t, used, after.Value.ID())
			}
		}
	})
}

// Whatever a leader finds, the store takes each of its transactions: etcd, which has the narrowest limit, at
// most 128 conditions, writes, or nodes to look at for an explanation. A plain put is judged by a condition
// of its own, that no session owns the node.
func TestEveryTransactionFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w, strategy := drawWorld(t), drawStrategy(t)
		for n := range rapid.SampledFrom([]int{0, 3, 40, 130}).Draw(t, "more members") {
			w.join(fmt.Sprint(n))
		}
		w.configure(func(c *job.Config) {
			c.ShardingTotalCount = rapid.SampledFrom([]int{c.ShardingTotalCount, 1, 300}).Draw(t, "new total")
		})
		tidy := resharding.Tidy(w.state(), w.term)
		requireFit(t, tidy...)
		for _, txn := range tidy {
			require.Nil(t, w.commit(txn))
		}
		plan := w.plan(strategy)
		requireFit(t, plan.Parts...)
		requireFit(t, plan.Txn)
		requireFit(t, resharding.GarbageOf(w.state(), w.term, time.Now(), 100).Txns...)
	})
}

func requireFit(t require.TestingT, txns ...registry.Txn) {
	const limit = 128
	for _, txn := range txns {
		conditions, paths := len(txn.Guards()), make(map[string]bool)
		for _, c := range txn.Guards() {
			paths[c.Path] = true
		}
		for _, write := range txn.Then {
			paths[write.Path] = true
			if write.Kind == registry.WritePut {
				conditions++
			}
		}
		require.LessOrEqual(t, max(conditions, len(txn.Then), len(paths)), limit,
			"%d conditions, %d writes, %d nodes", conditions, len(txn.Then), len(paths))
	}
}
