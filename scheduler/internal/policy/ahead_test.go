package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestWhichFiresAreAheadOfTime(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first, last, now, passed int // minutes
		want                     []int
		left                     []int
	}{
		"none has come":                    {3, 9, 2, 9, nil, []int{3, 9}},
		"the first has":                    {3, 9, 3, 9, []int{3, 3}, []int{4, 9}},
		"some have":                        {3, 9, 6, 9, []int{3, 6}, []int{7, 9}},
		"all have":                         {3, 9, 9, 10, []int{3, 9}, nil},
		"the clock is set right":           {3, 9, 6, 6, []int{3, 6}, nil},
		"the clock is less wrong":          {3, 9, 4, 6, []int{3, 4}, []int{5, 6}},
		"the clock is set back before all": {3, 9, 2, 2, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var a Ahead
			require.True(t, a.None())
			a.Add(minute(test.first), minute(test.first))
			a.Add(minute(test.first+1), minute(test.last))
			first, newest, ok := a.Come(minutelySchedule(t), minute(test.now), minute(test.passed))
			require.Equal(t, test.want != nil, ok)
			if ok {
				require.Equal(t, minutes(test.want...), []time.Time{first, newest})
			}
			require.Equal(t, test.left == nil, a.None())
			if !a.None() {
				require.Equal(t, minutes(test.left...), []time.Time{a.Next(), a.last})
			}
		})
	}
}

// However far a clock is ahead, and however often it is set: each fire that it ticked is told of when it has come, and none
// before, and none twice unless the clock ticks it twice.
func TestEachFireAheadOfTimeComesOnce(t *testing.T) {
	t.Parallel()
	s := minutelySchedule(t)
	rapid.Check(t, func(rt *rapid.T) {
		var a Ahead
		now, off := minute(0), time.Duration(0)
		ticked := minute(0) // the newest fire that the clock ticked since it was set back
		told := make(map[time.Time]int)
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(1, 200).Draw(rt, "seconds")) * time.Second)
			if rapid.IntRange(0, 4).Draw(rt, "set") == 0 {
				off = time.Duration(rapid.IntRange(0, 900).Draw(rt, "ahead")) * time.Second
			}
			clock := now.Add(off)
			if clock.Before(ticked) {
				ticked = clock.Truncate(time.Minute) // fires after it come again
			}
			if last := clock.Truncate(time.Minute); last.After(ticked) {
				a.Add(ticked.Add(time.Minute), last)
				ticked = last
			}
			if first, newest, ok := a.Come(s, now, clock); ok {
				require.False(rt, newest.After(now), "before its time")
				for fire := first; !fire.After(newest); fire = fire.Add(time.Minute) {
					told[fire]++
				}
			}
			if !a.None() {
				require.True(rt, a.Next().After(now), "what has come was told of")
			}
		}
		for fire := minute(1); !fire.After(now); fire = fire.Add(time.Minute) {
			require.Equal(rt, 1, told[fire], fire)
		}
	})
}
