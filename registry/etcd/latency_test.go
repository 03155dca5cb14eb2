package etcd

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLatency(t *testing.T) {
	t.Parallel()
	var l latency
	now := time.Now()
	require.Zero(t, l.minTimeout(time.Second, now))
	l.observe(2*time.Second, now)
	l.observe(time.Millisecond, now)
	require.Equal(t, 7*time.Second, l.minTimeout(time.Second, now), "four times the slowest, which fades")
	l.observe(time.Minute, now)
	require.Equal(t, 16*time.Second, l.minTimeout(time.Second, now), "bounded")
	for range 100 {
		l.observe(time.Millisecond, now)
	}
	require.Less(t, l.minTimeout(time.Second, now), 10*time.Millisecond)
}

// Where nothing is asked for a while, a slow answer fades with time alone.
func TestLatencyFadesWithTime(t *testing.T) {
	t.Parallel()
	var l latency
	now := time.Now()
	l.observe(2*time.Second, now)
	now = now.Add(latencyWindow - 1)
	require.Equal(t, 8*time.Second, l.minTimeout(time.Second, now))
	now = now.Add(1)
	require.Equal(t, 4*time.Second, l.minTimeout(time.Second, now))
	l.observe(3*time.Second, now)
	require.Equal(t, 12*time.Second, l.minTimeout(time.Second, now), "a new one counts in full")
	now = now.Add(2 * latencyWindow)
	require.Equal(t, 3*time.Second, l.minTimeout(time.Second, now))
	now = now.Add(24 * time.Hour)
	require.Zero(t, l.minTimeout(time.Second, now))
}

// A store that takes long for the least thing is given more requests at a time; one that is slow because it
// has much to do is not.
func TestRequestsUnderWay(t *testing.T) {
	t.Parallel()
	var l latency
	now := time.Now()
	require.Equal(t, baseInFlight, l.parallelRequests(), "nothing is known")
	l.observe(150*time.Millisecond, now)
	require.Equal(t, 15, l.parallelRequests())
	l.observe(time.Millisecond, now)
	l.observe(time.Minute, now)
	require.Equal(t, baseInFlight, l.parallelRequests(), "it can be swift")
	for range 100 {
		now = now.Add(latencyWindow / 10)
		l.observe(10*time.Second, now)
	}
	require.Equal(t, maxInFlight, l.parallelRequests(), "not any more")
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
		{"one", 1, time.Millisecond, 20 * time.Millisecond, baseInFlight, 8},
		{"three", 3, time.Millisecond, 20 * time.Millisecond, baseInFlight, 8},
		{"ten", 10, time.Millisecond, 20 * time.Millisecond, baseInFlight, 8},
		{"one, far away", 1, 150 * time.Millisecond, 5 * time.Millisecond, 12, 20},
		{"one, at a slow disk", 1, 600 * time.Millisecond, 20 * time.Millisecond, 20, maxInFlight},
		{"three, far away", 3, 150 * time.Millisecond, 5 * time.Millisecond, 8, 14},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			latencies, start := make([]latency, tt.processes), time.Now()
			for now := start; now.Sub(start) < 10*time.Minute; {
				all := 0
				for i := range latencies {
					all += latencies[i].parallelRequests()
				}
				wait := max(tt.service, time.Duration(all)*tt.service-tt.way)
				for i := range latencies {
					for range latencies[i].parallelRequests() {
						took := tt.way + time.Duration((0.5+random.Float64())*float64(wait))
						latencies[i].observe(took, now)
					}
				}
				now = now.Add(tt.way + wait)
			}
			for i := range latencies {
				require.GreaterOrEqual(t, latencies[i].parallelRequests(), tt.least)
				require.LessOrEqual(t, latencies[i].parallelRequests(), tt.most)
			}
		})
	}
}
