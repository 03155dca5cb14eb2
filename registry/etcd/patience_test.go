package etcd

import (
	"context"
	"errors"
	"math/rand/v2"
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
	for range 100 {
		now = now.Add(paceSpan / 10)
		p.answered(10*time.Second, now)
	}
	require.Equal(t, mostInFlight, p.requests(), "not any more")
}

// Processes that share a store which has too much to do must not outbid each other: what they all have
// under way is answered no sooner for it.
func TestRequestsUnderWayOfSeveralProcesses(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		processes    int
		way, service time.Duration // of a request
		least, most  int           // of requests under way that a process should come to
	}{
		{"one", 1, time.Millisecond, 20 * time.Millisecond, inFlight, 8},
		{"three", 3, time.Millisecond, 20 * time.Millisecond, inFlight, 8},
		{"ten", 10, time.Millisecond, 20 * time.Millisecond, inFlight, 8},
		{"one, far away", 1, 150 * time.Millisecond, 5 * time.Millisecond, 12, 20},
		{"one, at a slow disk", 1, 600 * time.Millisecond, 20 * time.Millisecond, 20, mostInFlight},
		{"three, far away", 3, 150 * time.Millisecond, 5 * time.Millisecond, 8, 14},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			paces, start := make([]pace, tt.processes), time.Now()
			for now := start; now.Sub(start) < 10*time.Minute; {
				all := 0
				for i := range paces {
					all += paces[i].requests()
				}
				wait := max(tt.service, time.Duration(all)*tt.service-tt.way)
				for i := range paces {
					for range paces[i].requests() {
						took := tt.way + time.Duration((0.5+random.Float64())*float64(wait))
						paces[i].answered(took, now)
					}
				}
				now = now.Add(tt.way + wait)
			}
			for i := range paces {
				require.GreaterOrEqual(t, paces[i].requests(), tt.least)
				require.LessOrEqual(t, paces[i].requests(), tt.most)
			}
		})
	}
}
