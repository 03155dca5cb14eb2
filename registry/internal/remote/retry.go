package remote

import (
	"context"
	"math/rand/v2"
	"time"
)

// FirstBackoff is how long to wait at most after one failure, and MaxBackoff after many.
const (
	FirstBackoff = 10 * time.Millisecond
	MaxBackoff   = 250 * time.Millisecond
)

// Backoff returns how long to wait after so many failures: the double after each, up to a bound, of
// which a random half is taken off so that processes do not repeat in step.
func Backoff(failed int) time.Duration {
	if failed <= 0 {
		return 0
	}
	d := min(FirstBackoff<<min(failed-1, 10), MaxBackoff)
	return d/2 + rand.N(d/2)
}

// Sleep waits, and is false if ctx ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
