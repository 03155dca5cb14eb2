package scheduler

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALookout(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		note func(*lookout)
		want []int
	}{
		"nothing":               {func(*lookout) {}, nil},
		"no items":              {func(l *lookout) { l.note(nil, false) }, nil},
		"some":                  {func(l *lookout) { l.note([]int{3, 1}, false) }, []int{1, 3}},
		"some, and others":      {func(l *lookout) { l.note([]int{3}, false); l.note([]int{1, 3}, false) }, []int{1, 3}},
		"some that are surplus": {func(l *lookout) { l.note([]int{9}, false) }, []int{9}},
		"all":                   {func(l *lookout) { l.note(nil, true) }, []int{0, 1, 2, 3}},
		"all, and some":         {func(l *lookout) { l.note(nil, true); l.note([]int{2}, false) }, []int{0, 1, 2, 3}},
		"some, and all":         {func(l *lookout) { l.note([]int{2}, false); l.note(nil, true) }, []int{0, 1, 2, 3}},
		"some and all in one":   {func(l *lookout) { l.note([]int{2}, true) }, []int{0, 1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l lookout
			test.note(&l)
			require.Equal(t, test.want, slices.Sorted(l.take(4)))
			require.Empty(t, slices.Collect(l.take(4)), "what was taken is forgotten")
		})
	}
}

// What is noted while others are looked at is for the next time.
func TestALookoutIsNotedWhileItIsTaken(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		var l lookout
		l.note([]int{0, 1}, all)
		looked := 0
		for n := range l.take(2) {
			l.note([]int{n + 10}, false)
			looked++
		}
		require.Equal(t, 2, looked)
		require.Equal(t, []int{10, 11}, slices.Sorted(l.take(2)))
	}
}

func TestALookoutIsLeftEarly(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		var l lookout
		l.note([]int{0, 1, 2}, all)
		for range l.take(3) {
			break
		}
		require.Empty(t, slices.Collect(l.take(3)))
	}
}
