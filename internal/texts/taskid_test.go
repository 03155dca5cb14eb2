package texts_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/internal/texts"
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
	require.Equal(t, short, texts.ShortTaskID(short))

	long := texts.ShortTaskID(taskID("orders", "10.0.0.1@-@7", 10_000))
	require.True(t, strings.HasPrefix(long, "orders@-@0,1,2,"), long)
	require.True(t, strings.HasSuffix(long, ",...@-@READY@-@10.0.0.1@-@7"), long)
	require.Greater(t, len(long), 245)

	wide := strings.Repeat("x", 250)
	a := texts.ShortTaskID(taskID("orders", wide+"a@-@7", 3))
	b := texts.ShortTaskID(taskID("orders", wide+"b@-@7", 3))
	require.NotEqual(t, a, b)

	bound := taskID("orders", "10.0.0.1@-@7", 1000)
	require.Equal(t, bound, texts.PassedTaskID(bound))
	require.Equal(t, long, texts.PassedTaskID(taskID("orders", "10.0.0.1@-@7", 10_000)))
	require.Len(t, texts.PassedTaskID(strings.Repeat("x", texts.MaxPassedTaskID)), texts.MaxPassedTaskID)
	require.Len(t, texts.PassedTaskID(strings.Repeat("x", texts.MaxPassedTaskID+1)), texts.MaxTaskID)
	rapid.Check(t, func(t *rapid.T) {
		id := taskID(rapid.String().Draw(t, "job"), rapid.StringN(0, 300, -1).Draw(t, "instance"), rapid.IntRange(0, 200).Draw(t, "total"))
		got := texts.ShortTaskID(id)
		require.LessOrEqual(t, utf8.RuneCountInString(got), texts.MaxTaskID)
		require.Equal(t, got, texts.ShortTaskID(got))
	})
}
