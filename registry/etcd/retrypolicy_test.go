package etcd

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry/internal/remote"
)

func TestRetryPolicy(t *testing.T) {
	t.Parallel()
	r := retryPolicy{timeout: time.Second}
	require.Equal(t, time.Second, r.tryTimeout())
	r.noteFailure(errors.New("refused"))
	require.Equal(t, time.Second, r.tryTimeout(), "a failure that came at once needs no more time")
	for _, want := range []time.Duration{2, 4, 8, 16, 16} {
		r.noteFailure(context.DeadlineExceeded)
		require.Equal(t, want*time.Second, r.tryTimeout())
	}
	for failed := range 100 {
		r.failed = failed
		require.Positive(t, r.backoff())
		require.LessOrEqual(t, r.backoff(), remote.MaxBackoff)
	}
}

// A member that stands still is no reason to give the next one more time: each is asked once first.
func TestRetryPolicyWithSeveralMembers(t *testing.T) {
	t.Parallel()
	r := Config{Endpoints: []string{"a", "b", "c"}, RequestTimeout: time.Second}.retryPolicy()
	for _, want := range []time.Duration{1, 1, 1, 2, 4, 8, 16, 16} {
		require.Equal(t, want*time.Second, r.tryTimeout())
		r.noteFailure(context.DeadlineExceeded)
	}
}
