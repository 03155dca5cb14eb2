package remote_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry/internal/remote"
)

func TestBackoff(t *testing.T) {
	t.Parallel()
	require.Zero(t, remote.Backoff(-1))
	require.Zero(t, remote.Backoff(0))
	for failed, most := range map[int]time.Duration{
		1: remote.FirstBackoff, 2: 2 * remote.FirstBackoff, 3: 4 * remote.FirstBackoff, 6: remote.MaxBackoff, 1000: remote.MaxBackoff,
	} {
		for range 100 {
			d := remote.Backoff(failed)
			require.GreaterOrEqual(t, d, most/2, failed)
			require.Less(t, d, most, failed)
		}
	}
}

func TestSleep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		require.True(t, remote.Sleep(t.Context(), time.Minute))
		require.Equal(t, time.Minute, time.Since(start))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.True(t, remote.Sleep(ctx, 0))
		require.False(t, remote.Sleep(ctx, time.Minute))
		require.Equal(t, time.Minute+time.Second, time.Since(start), "it ends with the context")
		require.False(t, remote.Sleep(ctx, 0), "no wait is over when the context is")
	})
}
