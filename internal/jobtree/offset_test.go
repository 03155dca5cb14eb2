package jobtree_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

func TestAnOffsetIsStoredAsItIs(t *testing.T) {
	t.Parallel()
	tree := jobtree.For("orders")
	for _, offset := range []string{"17", `{"page":3}`, " \n", strings.Repeat("x", job.MaxOffsetText)} {
		write, err := tree.WriteOffset(3, offset)
		require.NoError(t, err)
		require.Equal(t, registry.Put("/orders/offset/3", offset), write)
	}
	write, err := tree.WriteOffset(3, "")
	require.NoError(t, err)
	require.Equal(t, registry.Delete("/orders/offset/3"), write)
}

func TestAnOffsetThatIsRefused(t *testing.T) {
	t.Parallel()
	for offset, want := range map[string]string{
		"\xff":                                   "must be valid UTF-8",
		strings.Repeat("x", job.MaxOffsetText+1): "must not be longer than 16384 bytes",
	} {
		_, err := jobtree.For("orders").WriteOffset(3, offset)
		require.ErrorIs(t, err, jobtree.ErrInvalidValue)
		require.ErrorContains(t, err, want)
	}
	_, err := jobtree.EncodeOffset("")
	require.ErrorIs(t, err, jobtree.ErrInvalidValue)
}

func TestStateShowsOffsets(t *testing.T) {
	t.Parallel()
	tree, s := jobtree.For("orders"), newStore()
	s.put(tree.Offset(2), "17", 0)
	s.put(tree.Offset(job.MaxShardingTotalCount), "stray", 0)
	state := jobtree.NewState("orders")
	touched := state.Apply(s.step())
	require.Zero(t, touched, "an offset decides nothing")
	require.Equal(t, "17", state.Item(2).Offset)
	require.Empty(t, state.Item(1).Offset)
	require.Empty(t, state.Item(job.MaxShardingTotalCount).Offset)

	s.remove(tree.Offset(2))
	state.Apply(s.step())
	require.Empty(t, state.Item(2).Offset)
}
