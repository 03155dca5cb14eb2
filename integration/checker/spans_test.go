package checker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func at(s int) time.Time { return time.Unix(int64(s), 0) }

func spansOf(bounds ...int) spans {
	var s spans
	for i := 0; i < len(bounds); i += 2 {
		s = append(s, span{at(bounds[i]), at(bounds[i+1])})
	}
	return s
}

func TestMerge(t *testing.T) {
	t.Parallel()
	require.Equal(t, spansOf(1, 6, 8, 9), spansOf(8, 9, 3, 6, 1, 4, 2, 3, 7, 5).merge())
	require.Empty(t, spans(nil).merge())
}

func TestGap(t *testing.T) {
	t.Parallel()
	s := spansOf(2, 4, 6, 8)
	tests := []struct{ from, until, gap int }{ // gap 0 = none, else the second at or after which it begins
		{0, 1, 0}, {3, 4, -1}, {2, 4, -1}, {3, 5, 4}, {6, 8, -1}, {5, 6, 5}, {9, 9, -1},
	}
	for _, tt := range tests {
		found, ok := s.gap(at(tt.from), at(tt.until))
		require.Equal(t, tt.gap >= 0, ok, "%d to %d", tt.from, tt.until)
		if ok {
			require.WithinDuration(t, at(tt.gap), found, time.Nanosecond)
		}
	}
}

func TestWithoutAndOverlap(t *testing.T) {
	t.Parallel()
	require.Equal(t, spansOf(1, 3, 5, 9), spansOf(1, 9).without(span{at(3), at(5)}))
	require.Equal(t, spansOf(5, 9), spansOf(2, 9).without(span{at(1), at(5)}))
	require.Equal(t, spansOf(2, 9), spansOf(2, 9).without(span{at(9), at(12)}))
	require.Empty(t, spansOf(2, 9).without(span{at(1), at(10)}))
	from, both := overlap(spansOf(1, 3, 5, 9), spansOf(3, 5, 8, 12))
	require.True(t, both)
	require.Equal(t, at(8), from)
	_, both = overlap(spansOf(1, 3), spansOf(3, 5))
	require.False(t, both, "an instant is not an overlap")
	_, both = overlap(spansOf(1, 3), spansOf(2, 2))
	require.False(t, both, "an instant is not an overlap")
}
