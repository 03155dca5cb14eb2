package integration_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/resharding"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/scheduler"
	"github.com/elasticron/elasticron/sharding"
)

// openPatiently is open for tests that must not lose a session because the machine is busy.
func openPatiently(t *testing.T) *etcd.Registry {
	t.Helper()
	reg, err := etcd.Open(t.Context(), etcd.Config{
		Endpoints: server.Endpoints(), Namespace: strings.ReplaceAll(t.Name(), "/", "-"),
		SessionTTL: time.Minute, DialTimeout: time.Minute,
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	return reg
}

// A job of a thousand items is assigned in parts, as a transaction of etcd's holds 128 operations: when its
// first instance comes, when another one joins, and when that leaves.
func TestAThousandItemsChangeTheirOwners(t *testing.T) {
	t.Parallel()
	const items = 1000
	cfg := job.Config{Name: "orders", Cron: "@triggered", ShardingTotalCount: items}
	view, err := openPatiently(t).View(t.Context(), jobtree.For(cfg.Name).Root())
	require.NoError(t, err)
	owned := func(by ...string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		_, err := view.WaitFor(ctx, func(now registry.Snapshot) bool {
			s, share := jobtree.StateOf(cfg.Name, now), make(map[string]int)
			for n := range s.Total() {
				share[s.Owner(n)]++
			}
			even := s.Total() == items && len(share) == len(by) && len(resharding.Tidy(s, s.Leader.Created)) == 0
			for _, id := range by {
				even = even && share[id] == items/len(by)
			}
			return even
		})
		require.NoError(t, err, "waiting for %v to own the items", by)
	}
	join := func(id string) (stop func()) {
		s, err := scheduler.New(openPatiently(t), scheduler.WithInstanceID(id))
		require.NoError(t, err)
		nothing := func(context.Context, job.ShardingContext) error { return nil }
		_, err = s.Add(t.Context(), cfg, job.HandlerFunc(nothing))
		require.NoError(t, err)
		return runScheduler(t, s)
	}
	const a, b = "10.0.0.1@-@a", "10.0.0.2@-@b"
	join(a)
	owned(a)
	leave := join(b)
	owned(a, b)
	leave()
	owned(a)
}

// However many items move between however many instances, etcd takes each transaction of the plan.
func TestEtcdTakesEveryPlan(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ items, members int }{{100, 40}, {110, 1}, {110, 130}, {111, 130}, {1000, 60}} {
		t.Run(fmt.Sprintf("items=%d/members=%d", test.items, test.members), func(t *testing.T) {
			t.Parallel()
			ctx, reg, tree := t.Context(), openPatiently(t), jobtree.For("orders")
			commit := func(txns ...registry.Txn) {
				t.Helper()
				for _, o := range reg.CommitAll(ctx, txns) {
					require.NoError(t, o.Err)
				}
			}
			write := func(writes ...registry.Write) { commit(registry.Txn{Then: writes, Repeat: registry.RepeatHarmless}) }
			session, err := reg.Session(ctx)
			require.NoError(t, err)
			config, err := jobtree.EncodeConfig(job.Config{Name: "orders", Cron: "@triggered", ShardingTotalCount: test.items})
			require.NoError(t, err)
			write(registry.Put(tree.Config(), config), registry.PutOwned(tree.Leader(), "leader", session))
			reshard := func() *jobtree.State {
				state := func() *jobtree.State {
					nodes, revision, err := reg.List(ctx, tree.Root())
					require.NoError(t, err)
					return jobtree.StateOf("orders", registry.NewSnapshot(revision, nodes))
				}
				s := state()
				commit(resharding.Tidy(s, s.Leader.Created)...)
				s = state()
				plan, err := resharding.PlanOf(s, sharding.StrategyFunc(sharding.AverageAllocation), s.Leader.Created)
				require.NoError(t, err)
				commit(plan.Parts...)
				if plan.Needed {
					commit(plan.Txn)
				}
				return state()
			}
			for n := range test.members {
				write(registry.PutOwned(tree.Instance(fmt.Sprintf("10.0.0.%d@-@1", n)), "", session), registry.Put(tree.Necessary(), ""))
			}
			s := reshard()
			require.Equal(t, test.items, s.Total())
			for n := range s.Total() {
				require.NotEmpty(t, s.Owner(n))
			}
			// All items move to one of them.
			for n := 1; n < test.members; n++ {
				write(registry.Delete(tree.Instance(fmt.Sprintf("10.0.0.%d@-@1", n))), registry.Put(tree.Necessary(), ""))
			}
			s = reshard()
			for n := range s.Total() {
				require.Equal(t, "10.0.0.0@-@1", s.Owner(n))
			}
		})
	}
}
