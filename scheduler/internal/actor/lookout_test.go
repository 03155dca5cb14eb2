package actor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALookout(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		note func(*Lookout)
		want []int
	}{
		"nothing":               {func(*Lookout) {}, nil},
		"no items":              {func(l *Lookout) { l.Note(nil, false) }, nil},
		"some":                  {func(l *Lookout) { l.Add(3, 1) }, []int{1, 3}},
		"some, and others":      {func(l *Lookout) { l.Add(3); l.Add(1, 3) }, []int{1, 3}},
		"some that are surplus": {func(l *Lookout) { l.Add(9) }, []int{9}},
		"all":                   {func(l *Lookout) { l.AddAll() }, []int{0, 1, 2, 3}},
		"all, and some":         {func(l *Lookout) { l.AddAll(); l.Add(2) }, []int{0, 1, 2, 3}},
		"some, and all":         {func(l *Lookout) { l.Add(2); l.AddAll() }, []int{0, 1, 2, 3}},
		"some and all in one":   {func(l *Lookout) { l.Note([]int{2}, true) }, []int{0, 1, 2, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var l Lookout
			require.True(t, l.Empty())
			test.note(&l)
			require.Equal(t, test.want == nil, l.Empty())
			require.Equal(t, test.want, l.Take(4))
			require.Empty(t, l.Take(4), "what was taken is forgotten")
		})
	}
}

// What is noted while others are looked at is for the next time.
func TestALookoutIsNotedWhileItIsTaken(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{false, true} {
		var l Lookout
		l.Note([]int{0, 1}, all)
		var looked []int
		for _, n := range l.Take(2) {
			l.Add(n + 10)
			looked = append(looked, n)
		}
		require.Equal(t, []int{0, 1}, looked)
		require.Equal(t, []int{10, 11}, l.Take(2))
	}
}

// What is noted over and over before anybody looks takes the room of what there is.
func TestALookoutDoesNotGrow(t *testing.T) {
	t.Parallel()
	var l Lookout
	for range 10_000 {
		l.Add(2, 0, 1)
	}
	require.LessOrEqual(t, cap(l.items), 16)
	require.Equal(t, []int{0, 1, 2}, l.Take(5))
	l.AddAll()
	require.Equal(t, []int{0, 1, 2, 3, 4}, l.Take(5))
	require.Empty(t, l.Take(5))
}

// A job that is not decided upon for long, as while there is no session, notes the same items over and over.
func TestALookoutHoldsEachItemOnce(t *testing.T) {
	t.Parallel()
	var l Lookout
	for range 10_000 {
		l.Add(2, 0, 1)
	}
	require.LessOrEqual(t, cap(l.items), 32)
	require.Equal(t, []int{0, 1, 2}, l.Take(3))
}
