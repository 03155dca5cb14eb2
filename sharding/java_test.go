package sharding

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What a JVM printed for String.hashCode.
func TestHashJava(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int32{
		"":                           0,
		"a":                          97,
		"t_job":                      110063986,
		"test_job":                   -1146456432,
		"javaSimpleJob":              -694093655,
		"demoJob":                    1551644378,
		"作业":                         649790,
		"polygenelubricants":         math.MinInt32,
		"\U0001F600":                 1772899,
		"job-\U0001F600-\uE000":      39025190,
		"\uFFFD":                     65533,
		"no UTF-8 reads as \xff\xff": hashJava("no UTF-8 reads as \uFFFD\uFFFD"),
	} {
		require.Equal(t, want, hashJava(text), "hash of %q", text)
	}
}

func TestHashJavaOfJoinedText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		head, tail := rapid.String().Draw(t, "head"), rapid.String().Draw(t, "tail")
		want := hashJava(head)
		for range utf16.Encode([]rune(tail)) {
			want *= 31
		}
		require.Equal(t, want+hashJava(tail), hashJava(head+tail))
	})
}

// What a JVM printed for Math.abs(hash) % n, or would have but for the sign in the rows with -2³¹.
func TestOffsetJava(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		hash    int32
		n, want int
	}{
		{110063986, 3, 1},
		{110063986, 7, 4},
		{-1146456432, 3, 0},
		{-1146456432, 7, 2},
		{-694093655, 4, 3},
		{math.MaxInt32, 2, 1},
		{math.MinInt32 + 1, 2, 1},
		{math.MinInt32, 1, 0},
		{math.MinInt32, 2, 0},
		{math.MinInt32, 4, 0},
		{math.MinInt32, 3, 1}, // Java: -2
		{math.MinInt32, 7, 5}, // Java: -2
	} {
		t.Run(fmt.Sprintf("hash=%d/n=%d", row.hash, row.n), func(t *testing.T) {
			t.Parallel()
			require.Equal(t, row.want, offsetJava(row.hash, row.n))
		})
	}
}

// What a JVM made of Comparator.reverseOrder. Characters beyond the basic plane stand below U+E000.
func TestSortedIsJavasDescendingOrder(t *testing.T) {
	t.Parallel()
	want := []string{
		"\uFFFD", "\uE000", "\U0001F601", "\U0001F600", "作", "é", "ab", "a", "A",
		"10.0.0.9@-@7", "10.0.0.1@-@99", "10.0.0.1@-@100", "10.0.0.10@-@5",
	}
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.Permutation(append(want, want...)).Draw(t, "ids")
		drawn := slices.Clone(ids)
		require.Equal(t, want, sorted(ids))
		require.Equal(t, drawn, ids, "the caller's slice changed")
	})
}

func TestCompareJavaComparesCodeUnits(t *testing.T) {
	t.Parallel()
	text := rapid.StringOf(rapid.RuneFrom([]rune("ab\uD7FF\uE000\uFFFD\uFFFF\U00010000\U0010FFFF")))
	rapid.Check(t, func(t *rapid.T) {
		a, b := text.Draw(t, "a"), text.Draw(t, "b")
		want := slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
		require.Equal(t, want, compareJava(a, b))
	})
}

func TestCompareJavaTellsBadTextApart(t *testing.T) {
	t.Parallel()
	bytes := rapid.SliceOfN(rapid.SampledFrom([]byte{'a', 0x80, 0xED, 0xFF, 0xF0}), 0, 4)
	rapid.Check(t, func(t *rapid.T) {
		a, b := string(bytes.Draw(t, "a")), string(bytes.Draw(t, "b"))
		require.Equal(t, a == b, compareJava(a, b) == 0)
		require.Equal(t, compareJava(a, b), -cmp.Compare(compareJava(b, a), 0))
	})
}
