package backend

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What happens to the two clocks of package time, and by how much that of the sessions goes on.
func TestClockOfTwo(t *testing.T) {
	t.Parallel()
	type step struct{ mono, wall, want time.Duration }
	run := step{time.Second, time.Second, time.Second}
	sleep := step{0, time.Minute, time.Minute}
	ahead := step{0, time.Hour, time.Hour}
	back := step{0, -time.Hour, 0}
	backMeanwhile := step{time.Second, time.Second - time.Hour, time.Second}
	for name, steps := range map[string][]step{
		"runs":                            {run, run},
		"sleeps":                          {run, sleep, run, sleep, run},
		"is set ahead and back":           {run, ahead, back, run, run, sleep},
		"is set ahead and back meanwhile": {run, ahead, backMeanwhile, run},
		"is set back, then sleeps":        {back, sleep, run},
		"is set back twice, then ahead":   {back, back, run, ahead, sleep},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mono, wall time.Duration
			clock := clockOf(func() (time.Duration, time.Duration) { return mono, wall })
			was := clock()
			require.Zero(t, was)
			for i, s := range steps {
				mono, wall = mono+s.mono, wall+s.wall
				is := clock()
				require.Equal(t, s.want, is-was, "step %d", i)
				was = is
			}
		})
	}
}

// A wall clock that ticks coarsely does not make the other one faster, however often they are read; one that goes
// faster is followed.
func TestClockOfTwoReadOften(t *testing.T) {
	t.Parallel()
	var mono, tick time.Duration
	wall := func() time.Duration { return mono.Truncate(tick) }
	clock := clockOf(func() (time.Duration, time.Duration) { return mono, wall() })
	tick = 100 * time.Microsecond
	for ; mono < 100*time.Millisecond; mono += time.Microsecond {
		require.Equal(t, mono, clock())
	}
	wall = func() time.Duration { return mono + mono/10 }
	for ; mono < 200*time.Millisecond; mono += 100 * time.Microsecond {
		require.InDelta(t, wall(), clock(), float64(clockTolerance))
	}
}
