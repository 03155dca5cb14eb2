package room

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The log line of a run by hand names no fire of the year 1.
func TestNoFireIsNoTime(t *testing.T) {
	t.Parallel()
	require.Empty(t, FireOf(time.Time{}))
	fire := time.Date(2026, 3, 1, 2, 30, 0, 0, time.UTC)
	require.Equal(t, fire, FireOf(fire))
}
