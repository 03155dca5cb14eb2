package etcd

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPace(t *testing.T) {
	t.Parallel()
	var p pace
	now := time.Now()
	require.Zero(t, p.atLeast(time.Second))
	p.answered(2*time.Second, now)
	p.answered(time.Millisecond, now)
	require.Equal(t, 7*time.Second, p.atLeast(time.Second), "four times the slowest, which fades")
	p.answered(time.Minute, now)
	require.Equal(t, 16*time.Second, p.atLeast(time.Second), "bounded")
	for range 100 {
		p.answered(time.Millisecond, now)
	}
	require.Less(t, p.atLeast(time.Second), 10*time.Millisecond)
}

func TestPatience(t *testing.T) {
	t.Parallel()
	p := patience{timeout: time.Second}
	require.Equal(t, time.Second, p.limit())
	p.note(errors.New("refused"))
	require.Equal(t, time.Second, p.limit(), "a failure that came at once needs no more time")
	for _, want := range []time.Duration{2, 4, 8, 16, 16} {
		p.note(context.DeadlineExceeded)
		require.Equal(t, want*time.Second, p.limit())
	}
	for failed := range 100 {
		p.failed = failed
		require.Positive(t, p.pause())
		require.LessOrEqual(t, p.pause(), longPause)
	}
}

// A member that stands still is no reason to give the next one more time: each is asked once first.
func TestPatienceWithSeveralMembers(t *testing.T) {
	t.Parallel()
	p := Config{Endpoints: []string{"a", "b", "c"}, RequestTimeout: time.Second}.patience()
	for _, want := range []time.Duration{1, 1, 1, 2, 4, 8, 16, 16} {
		require.Equal(t, want*time.Second, p.limit())
		p.note(context.DeadlineExceeded)
	}
}

// A store that takes long for the least thing is given more requests at a time; one that is slow because it
// has much to do is not.
func TestRequestsUnderWay(t *testing.T) {
	t.Parallel()
	var p pace
	now := time.Now()
	require.Equal(t, inFlight, p.requests(), "nothing is known")
	p.answered(150*time.Millisecond, now)
	require.Equal(t, 15, p.requests())
	p.answered(time.Millisecond, now)
	p.answered(time.Minute, now)
	require.Equal(t, inFlight, p.requests(), "it can be swift")
	for range 3 {
		now = now.Add(2 * paceSpan)
		p.answered(10*time.Second, now)
	}
	require.Equal(t, mostInFlight, p.requests(), "not any more")
}
