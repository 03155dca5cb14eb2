package etcd

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/elasticron/elasticron/internal/repeats"
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
	refused      time.Time     // since when all tries were answered with errors; zero if the last one was not
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
	switch {
	case maybeBusy(err) || errors.Is(err, context.Canceled):
		r.refused = time.Time{} // if that lasts, sessions end, and the keeper tells of it
	case r.refused.IsZero():
		r.refused = time.Now()
	}
}

// tellInsistence tells of a request that is repeated, if it is answered with errors for longer than a session would last without one:
// an error that no table calls hopeless may be so all the same. Sessions may go on meanwhile, as in a cluster that etcd takes for
// corrupt, so that nobody else tells.
func (r *Registry) tellInsistence(retry retryPolicy, err error) {
	if retry.refused.IsZero() || time.Since(retry.refused) <= r.config.SessionTTL {
		return
	}
	r.repeats.Tell(repeats.Line{
		Level: slog.LevelWarn, Message: "the registry does not do a request, trying on", Cause: err.Error(),
		Attrs: []any{"endpoints", r.endpoints(), "error", err},
	})
}

// backoff returns how long to wait before the next try.
func (r *retryPolicy) backoff() time.Duration { return remote.Backoff(max(r.failed, 1)) }
