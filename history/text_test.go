package history_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/history"
)

func TestItemsOfARound(t *testing.T) {
	t.Parallel()
	items := func(total int) string {
		all := make([]int, total)
		for i := range all {
			all[i] = i
		}
		return history.Round{Items: all}.Staged().ShardingItems
	}
	require.Equal(t, "[]", items(0))
	require.Equal(t, "[0]", items(1))
	require.Equal(t, "[0, 1, 2]", items(3))
	require.Equal(t, 98, len(items(27)), "all of them")
	require.Equal(t, "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, ...]", items(28))
	require.Equal(t, items(28), items(10_000))
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.IntRange(0, 1<<30), 0, 60).Draw(t, "items")
		slices.Sort(all)
		text := history.Round{Items: all}.Staged().ShardingItems
		require.LessOrEqual(t, len(text), 100)
		require.True(t, strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"))
	})
}
