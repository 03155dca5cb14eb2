package operate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

func TestAnItemIsGivenUp(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.do(registry.Put(nodes.ItemRecord(1), jobtree.EncodeRecord(lostRecord(g))), registry.Put(nodes.FailoverItem(1), ""))
	r, err := g.op.GiveUp(t.Context(), theJob, 1, silent())
	require.NoError(t, err)
	require.Equal(t, "item 1 waiting -> interrupted", r.Changes[0].String())
	it := g.tree().Item(1)
	require.Equal(t, jobtree.ItemInterrupted, it.Record.Value.State)
	require.Zero(t, it.FailoverItem)
	require.Contains(t, g.refused(operate.CauseAlready, errOf(g.op.GiveUp(t.Context(), theJob, 1, silent()))).Error(), "it is interrupted")
	require.Contains(t, g.refused(operate.CauseAlready, errOf(g.op.GiveUp(t.Context(), theJob, 0, silent()))).Error(), "it is idle")
	g.refused(operate.CauseUnknownTarget, errOf(g.op.GiveUp(t.Context(), theJob, 9, silent())))
	g.do(registry.Put(nodes.ItemRecord(2), "}{"))
	g.refused(operate.CauseUnreadable, errOf(g.op.GiveUp(t.Context(), theJob, 2, silent())))
}
