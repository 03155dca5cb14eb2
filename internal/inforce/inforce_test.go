package inforce_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/job"
)

func TestWhatNumbersComeTo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		set                job.Config
		limit, most        int
		backoff, reconcile time.Duration
	}{
		"zero is the default": {job.Config{}, 3, 100, time.Second, 10 * time.Minute},
		"negative is none":    {job.Config{FailoverLimit: -1, MisfireMax: -7, RetryBackoff: -time.Second, ReconcileInterval: -1}, 0, 0, 0, 0},
		"others are themselves": {
			job.Config{FailoverLimit: 7, MisfireMax: 8, RetryBackoff: 9 * time.Second, ReconcileInterval: time.Hour}, 7, 8, 9 * time.Second, time.Hour,
		},
	} {
		require.Equal(t, test.limit, inforce.FailoverLimit(test.set), name)
		require.Equal(t, test.most, inforce.MisfireMax(test.set), name)
		require.Equal(t, test.backoff, inforce.RetryBackoff(test.set), name)
		require.Equal(t, test.reconcile, inforce.ReconcileInterval(test.set), name)
	}
}

func TestMaxRunning(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cfg  job.Config
		want int
	}{
		"no bound":       {job.Config{}, 0},
		"two for a CPU":  {job.Config{ExecutorServiceHandler: job.ExecutorCPU}, 2 * runtime.NumCPU()},
		"one by one":     {job.Config{ExecutorServiceHandler: job.ExecutorSingleThread}, 1},
		"a number":       {job.Config{MaxConcurrentItems: 5}, 5},
		"a number first": {job.Config{MaxConcurrentItems: 5, ExecutorServiceHandler: "com.acme.Pool"}, 5},
	} {
		got, err := inforce.MaxRunning(test.cfg)
		require.NoError(t, err, name)
		require.Equal(t, test.want, got, name)
	}
	_, err := inforce.MaxRunning(job.Config{ExecutorServiceHandler: "com.acme.Pool"})
	require.ErrorContains(t, err, "CPU or SINGLE_THREAD")
}
