package operate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// However many items are named, what is written down of it is short, and leaves room for other operations.
func TestAListOfManyItemsIsShortened(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.do(registry.Put(nodes.Config(), g.text(func(c *job.Config) { c.ShardingTotalCount = 8_000 })), registry.Delete(nodes.Epoch()))
	require.NoError(t, errOf(g.op.DisableItem(t.Context(), theJob, 1, silent())))
	var items []int
	for n := range 3_800 {
		items = append(items, 2*n)
	}
	require.NoError(t, errOf(g.op.Trigger(t.Context(), theJob, operate.Trigger{Items: items}, operate.Options{ID: "many"})))
	operations := g.operated().Operations
	require.Len(t, operations, 2)
	require.Less(t, len(operations[1].Target), 300)
	require.Contains(t, operations[1].Target, "items 0,2,4,")
	require.Contains(t, operations[1].Target, " and 37")
	require.Contains(t, operations[1].Changed, "items 0,2,4,")
	asked, err := jobtree.DecodeTriggered(g.node(nodes.Triggered()))
	require.NoError(t, err)
	require.Equal(t, items, asked.Items)
	r, err := g.op.Trigger(t.Context(), theJob, operate.Trigger{Items: items}, operate.Options{ID: "many"})
	require.NoError(t, err)
	require.True(t, r.Repeated)
	refusal := g.refused(operate.CausePending, errOf(g.op.Trigger(t.Context(), theJob, operate.Trigger{}, silent())))
	require.Less(t, len(refusal.Error()), 700)
}
