package zkcompat

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstBackoff = 10 * time.Millisecond
	maxBackoff   = 250 * time.Millisecond
)

// backoff returns how long to wait after so many failures: the double after each, up to a bound, of
// which a random half is taken off so that processes do not repeat in step.
func backoff(failed int) time.Duration {
	if failed <= 0 {
		return 0
	}
	d := min(firstBackoff<<min(failed-1, 10), maxBackoff)
	return d/2 + rand.N(d/2)
}

// sleep waits, and is false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
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
