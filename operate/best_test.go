package operate

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What is kept is what a stable sort of everything begins with.
func TestTheBestOfMany(t *testing.T) {
	t.Parallel()
	type entry struct{ key, at int }
	order := func(a, b entry) int { return cmp.Compare(a.key, b.key) }
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 200).Draw(t, "keys")
		most := rapid.IntRange(0, 30).Draw(t, "most")
		b := best[entry]{most: most, order: order}
		var all []entry
		for i, key := range keys {
			all = append(all, entry{key, i})
			b.add(entry{key, i})
		}
		slices.SortStableFunc(all, order)
		require.ElementsMatch(t, all[:min(most, len(all))], b.sorted())
		require.True(t, slices.IsSortedFunc(b.sorted(), order))
		for i, e := range b.sorted() {
			require.Equal(t, all[i], e)
		}
	})
}
