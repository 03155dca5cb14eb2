package backend

import (
	"sync"
	"time"
)

// SessionClock tells how much time has passed since a fixed moment, also while the machine slept.
// It never goes back.
type SessionClock func() time.Duration

// NewClock returns a clock made of package time alone, for backends without a better one and for
// synctest bubbles. Go's monotonic clock stands still while a machine sleeps and its wall clock can
// be set: where the wall clock gets ahead of the other, be it by a sleep or because somebody sets it, the
// time between counts as passed. That errs towards "expired", which is the safe side. Where it is set back, this
// clock goes on with the monotonic one.
func NewClock() SessionClock {
	start := time.Now()
	return clockOf(func() (mono, wall time.Duration) {
		now := time.Now()
		return now.Sub(start), now.Round(0).Sub(start.Round(0))
	})
}

// clockTolerance is by how much the wall clock may differ before it counts: it may tick more coarsely than the other, and
// what is that small must not add up with each of many readings.
const clockTolerance = time.Millisecond

// clockOf returns the clock made of two that begin at 0: one that never goes back, and one that goes while the machine
// sleeps.
func clockOf(now func() (mono, wall time.Duration)) SessionClock {
	var mu sync.Mutex
	var ahead time.Duration // of the wall clock, the last time that it counted
	var slept time.Duration // beside what the monotonic clock shows
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		mono, wall := now() // under the lock: who read earlier must not come later
		if more := wall - mono - ahead; more.Abs() >= clockTolerance {
			ahead += more
			slept += max(more, 0)
		}
		return mono + slept
	}
}
