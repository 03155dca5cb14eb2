package httpjob

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A server that wants to be left alone for ages is left alone for as long as we ever pause, however it says so.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-5": 0, "-99999999999999999999": 0, "7": 7 * time.Second, "3600": time.Minute, "99999999999999999999": time.Minute,
		"Sun, 01 Mar 2026 10:00:05 GMT": 5 * time.Second, "Sun, 01 Mar 2026 09:00:00 GMT": 0, "Mon, 01 Mar 2027 10:00:00 GMT": time.Minute,
	} {
		require.Equal(t, want, retryAfter(http.Header{"Retry-After": {text}}, now), text)
	}
}
