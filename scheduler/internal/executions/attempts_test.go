package executions

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

var errOops = errors.New("oops")

// trial is code that fails some times, and a list of when it was called and what it was told.
type trial struct {
	failures int
	takes    time.Duration
	called   []time.Duration // since midnight
	pauses   []time.Duration
	causes   []error
}

func (tr *trial) run(ctx context.Context, _ job.ShardingContext) error {
	tr.called = append(tr.called, time.Since(midnight))
	select {
	case <-time.After(tr.takes):
	case <-ctx.Done():
		tr.causes = append(tr.causes, context.Cause(ctx))
		return errOops
	}
	if len(tr.called) <= tr.failures {
		return errOops
	}
	return nil
}

func (tr *trial) retrying(err error, pause time.Duration) {
	if errors.Is(err, errOops) {
		tr.pauses = append(tr.pauses, pause)
	}
}

func (tr *trial) attempt(ctx context.Context, l Limits) error {
	return l.attempt(ctx, tr.run, job.ShardingContext{}, tr.retrying)
}

func TestLimitsOf(t *testing.T) {
	t.Parallel()
	cfg := job.Config{Name: "orders", Cron: "0 * * * * ?", ShardingTotalCount: 1}
	require.Equal(t, Limits{backoff: time.Second}, LimitsOf(cfg))
	cfg.Timeout, cfg.Retries, cfg.RetryBackoff = 7*time.Second, 2, 5*time.Second
	require.Equal(t, Limits{timeout: 7 * time.Second, retries: 2, backoff: 5 * time.Second}, LimitsOf(cfg))
}

func TestHowOftenAnItemIsTried(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		retries, failures, calls int
		want                     error
	}{
		"it succeeds, no retries":      {0, 0, 1, nil},
		"it fails, no retries":         {0, 9, 1, errOops},
		"it succeeds at once":          {3, 0, 1, nil},
		"it succeeds in the end":       {3, 3, 4, nil},
		"it fails once more than that": {3, 4, 4, errOops},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				tr := &trial{failures: test.failures}
				err := tr.attempt(t.Context(), Limits{retries: test.retries, backoff: time.Second})
				require.ErrorIs(t, err, test.want)
				require.Len(t, tr.called, test.calls)
				require.Len(t, tr.pauses, test.calls-1)
			})
		})
	}
}

// The pause before a retry doubles, up to a minute, and varies by half. It is what was announced.
func TestThePauseGrows(t *testing.T) {
	t.Parallel()
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			tr := &trial{failures: 12}
			require.NoError(t, tr.attempt(t.Context(), Limits{retries: 12, backoff: time.Second}))
			for i, pause := range tr.pauses {
				usual := min(time.Second<<i, longestBackoff)
				require.GreaterOrEqual(t, pause, usual/2)
				require.LessOrEqual(t, pause, usual*3/2+1)
				require.Equal(t, pause, tr.called[i+1]-tr.called[i])
			}
		})
	}
}

// When the item has to end, it is not asked again, and what it said last is what counts.
func TestTheContextEndsThePause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Minute, func() { cancel(stopping.ErrStopped) })
		tr := &trial{failures: 9}
		require.Equal(t, errOops, tr.attempt(ctx, Limits{retries: 3, backoff: time.Hour}))
		require.Len(t, tr.called, 1)
		require.Equal(t, time.Minute, time.Since(midnight))
	})
}

// A process that stood still in a pause finds, when it wakes, that both have come to an end: the pause, and its right to run
// the item. It makes no other attempt.
func TestAPauseThatEndsWithTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 50 { // by chance, one of the two would be seen first
			ctx, cancel := context.WithCancelCause(t.Context())
			tr := &trial{failures: 9}
			stoodStill := func(error, time.Duration) { cancel(stopping.ErrStopped) }
			require.Equal(t, errOops, Limits{retries: 3}.attempt(ctx, tr.run, job.ShardingContext{}, stoodStill)) // its pauses are over at once
			require.Len(t, tr.called, 1)
		}
	})
}

// The first attempt is made in any case: what has begun is called.
func TestTheFirstAttemptIsMadeInAnyCase(t *testing.T) {
	t.Parallel()
	for _, retries := range []int{0, 3} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stopping.ErrStopped)
		tr := &trial{takes: time.Hour}
		require.Equal(t, errOops, tr.attempt(ctx, Limits{retries: retries}))
		require.Equal(t, []error{stopping.ErrStopped}, tr.causes)
	}
}

func TestTheContextEndsAnAttempt(t *testing.T) {
	t.Parallel()
	for _, retries := range []int{0, 3} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Minute, func() { cancel(stopping.ErrStopped) })
			tr := &trial{takes: time.Hour}
			require.Equal(t, errOops, tr.attempt(ctx, Limits{retries: retries, backoff: time.Second, timeout: time.Hour}))
			require.Equal(t, []error{stopping.ErrStopped}, tr.causes)
			require.Len(t, tr.called, 1)
			require.Empty(t, tr.pauses)
		})
	}
}

// The timeout is that of one attempt; each has it in full.
func TestEachAttemptHasItsTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		tr := &trial{takes: time.Hour}
		require.Equal(t, errOops, tr.attempt(t.Context(), Limits{retries: 2, backoff: time.Second, timeout: 10 * time.Second}))
		require.Equal(t, []error{job.ErrTimeout, job.ErrTimeout, job.ErrTimeout}, tr.causes)
		require.Equal(t, 30*time.Second+tr.pauses[0]+tr.pauses[1], time.Since(midnight))
	})
}

// Code that uses the same retry library as we do returns errors that would end our retries, or time them.
func TestErrorsOfTheCodeDoNotSteerRetries(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"permanent":                  fmt.Errorf("no stock: %w", backoff.Permanent(errOops)),
		"permanent without an error": &backoff.PermanentError{},
		"later":                      errors.Join(errOops, backoff.RetryAfter(3600)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls, told := 0, 0
				handler := job.HandlerFunc(func(context.Context, job.ShardingContext) error { calls++; return err })
				want := protect.Call(func() error { return err }) // the methods of one panic
				got := Limits{retries: 2, backoff: time.Second}.attempt(t.Context(), handler, job.ShardingContext{}, func(heard error, pause time.Duration) {
					require.Equal(t, want, heard)
					require.Less(t, pause, 4*time.Second)
					told++
				})
				require.Equal(t, want, got)
				require.Equal(t, 3, calls)
				require.Equal(t, 2, told)
			})
		})
	}
}

func TestAPanicIsTriedAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls, told := 0, 0
		handler := job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			if calls++; calls < 3 {
				panic(errOops)
			}
			return nil
		})
		require.NoError(t, Limits{retries: 5, backoff: time.Second}.attempt(t.Context(), handler, job.ShardingContext{},
			func(err error, _ time.Duration) {
				require.ErrorContains(t, err, "oops")
				told++
			}))
		require.Equal(t, 3, calls)
		require.Equal(t, 2, told)
	})
}

// Code can see that its execution is cancelled, also when the time of the attempt is over.
func TestAnAttemptSeesItsExecution(t *testing.T) {
	t.Parallel()
	for _, retries := range []int{0, 2} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Hour, cancel)
			began := time.Now()
			err := Limits{timeout: time.Second, retries: retries}.attempt(ctx, func(ctx context.Context, _ job.ShardingContext) error {
				<-execution.Done(ctx)
				require.ErrorIs(t, context.Cause(ctx), job.ErrTimeout)
				return errOops
			}, job.ShardingContext{}, func(error, time.Duration) {})
			require.Equal(t, errOops, err)
			require.Equal(t, time.Hour, time.Since(began))
		})
	}
}
