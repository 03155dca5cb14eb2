package etcd

import (
	"time"

	"github.com/elasticron/elasticron/registry/internal/remote"
)

// maxDoublings bounds how often the time of a try is doubled.
const maxDoublings = 4

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

// backoff returns how long to wait before the next try.
func (r *retryPolicy) backoff() time.Duration { return remote.Backoff(max(r.failed, 1)) }
