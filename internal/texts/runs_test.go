package texts_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/texts"
)

func TestRunsAreWrittenByTheirEnds(t *testing.T) {
	t.Parallel()
	for want, numbers := range map[string][]int{
		"":        nil,
		"0":       {0},
		"0-1":     {0, 1},
		"3,5":     {3, 5},
		"0-9,12":  {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12},
		"1,3-5,7": {1, 3, 4, 5, 7},
	} {
		var list []byte
		for first, last := range texts.Runs(numbers) {
			list = texts.AppendRun(list, first, last)
		}
		require.Equal(t, want, string(list))
	}
	for first, last := range texts.Runs([]int{1, 2, 4}) {
		require.Equal(t, []int{1, 2}, []int{first, last})
		break
	}
}
