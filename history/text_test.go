package history_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/job"
)

func taskID(jobName, instance string, total int) string {
	items := make([]int, total)
	for i := range items {
		items[i] = i
	}
	return job.TaskID{Job: jobName, Items: items, Instance: instance}.String()
}

func TestLongTaskIDs(t *testing.T) {
	t.Parallel()
	short := taskID("orders", "10.0.0.1@-@7", 30)
	require.Equal(t, short, history.ShortTaskID(short))

	long := history.ShortTaskID(taskID("orders", "10.0.0.1@-@7", 10_000))
	require.True(t, strings.HasPrefix(long, "orders@-@0,1,2,"), long)
	require.True(t, strings.HasSuffix(long, ",...@-@READY@-@10.0.0.1@-@7"), long)
	require.Greater(t, len(long), 245)

	wide := strings.Repeat("x", 250)
	a := history.ShortTaskID(taskID("orders", wide+"a@-@7", 3))
	b := history.ShortTaskID(taskID("orders", wide+"b@-@7", 3))
	require.NotEqual(t, a, b)
	rapid.Check(t, func(t *rapid.T) {
		id := taskID(rapid.String().Draw(t, "job"), rapid.StringN(0, 300, -1).Draw(t, "instance"), rapid.IntRange(0, 200).Draw(t, "total"))
		got := history.ShortTaskID(id)
		require.LessOrEqual(t, utf8.RuneCountInString(got), history.MaxTaskID)
		require.Equal(t, got, history.ShortTaskID(got))
	})
}

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
