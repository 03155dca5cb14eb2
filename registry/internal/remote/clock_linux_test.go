package remote

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClockIsReadOnceInAStep(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	start := time.Now()
	for _, test := range []struct {
		name  string
		after time.Duration // that the process ran since the first look
		slept time.Duration // that the machine slept meanwhile, beyond that
		want  time.Duration // by how much the clock went on
	}{
		{"at once", 0, 0, 0},
		{"within the step", ms - 1, 0, 0},
		{"a step later", ms, 0, ms},
		{"after a pause of the process", time.Minute, 0, time.Minute},
		{"after a sleep of the machine", ms, time.Minute, time.Minute + ms},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			ran, kernel := start, time.Hour
			clock := stepping(func() (time.Duration, error) { return kernel, nil }, func() time.Time { return ran })
			require.Equal(t, time.Hour, clock())
			ran, kernel = ran.Add(test.after), kernel+test.after+test.slept
			require.Equal(t, time.Hour+test.want, clock())
		})
	}
}

// Who reads the clock and is overtaken by others does not set it back.
func TestClockNeverGoesBack(t *testing.T) {
	t.Parallel()
	clock := NewClock()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for last, until := clock(), time.Now().Add(20*time.Millisecond); time.Now().Before(until); {
				now := clock()
				if now < last {
					t.Errorf("the clock went from %s to %s", last, now)
					return
				}
				last = now
			}
		})
	}
	all.Wait()
}
