package etcd

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstBackoff = 10 * time.Millisecond
	maxBackoff   = 250 * time.Millisecond
	// maxDoublings bounds how often the time of a try is doubled.
	maxDoublings = 4
)

// retryPolicy is how long a call waits for one try, and between two. The zero value with a timeout is
// that of a first try.
type retryPolicy struct {
	timeout      time.Duration // of a first try
	otherMembers int           // members that later tries may go to
	failed       int           // tries that failed
	timedOut     int           // tries that took too long
}

// retryPolicy returns that of a first request. Tries go round among the members.
func (c Config) retryPolicy() retryPolicy {
	return retryPolicy{timeout: c.RequestTimeout, otherMembers: len(c.Endpoints) - 1}
}

// tryTimeout returns the time for the next try. A store that is merely slow must get more time, or no try
// would ever be answered; but a member that stands still is no slow store, so every member may be asked
// once before that.
func (r *retryPolicy) tryTimeout() time.Duration {
	return r.timeout << min(max(r.timedOut-r.otherMembers, 0), maxDoublings)
}

// noteFailure counts a failed try.
func (r *retryPolicy) noteFailure(err error) {
	r.failed++
	if tookTooLong(err) {
		r.timedOut++
	}
}

// backoff returns how long to wait before the next try: the double after each failure, up to a bound,
// of which a random half is taken off so that processes do not repeat in step.
func (r *retryPolicy) backoff() time.Duration {
	d := min(firstBackoff<<min(max(r.failed-1, 0), 10), maxBackoff)
	return d/2 + rand.N(d/2)
}

// sleep waits, and tells whether the context is still going on.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
