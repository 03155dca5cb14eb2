package backend

import "time"

// SessionClock tells how much time has passed since a fixed moment, also while the machine slept.
// It never goes back.
type SessionClock func() time.Duration

// NewClock returns a clock made of package time alone, for backends without a better one and for
// synctest bubbles. Go's monotonic clock stands still while a machine sleeps and its wall clock can
// be set; the larger of the two differences errs towards "expired", which is the safe side.
func NewClock() SessionClock {
	start := time.Now()
	return func() time.Duration {
		now := time.Now()
		return max(now.Sub(start), now.Round(0).Sub(start.Round(0)))
	}
}
