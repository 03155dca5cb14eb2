package scheduler

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/elasticron/elasticron/job"
)

// longestBackoff bounds the pause between two attempts.
const longestBackoff = time.Minute

// limits are what a job sets for one execution of an item.
type limits struct {
	timeout time.Duration // of one attempt; 0 = none
	retries int
	backoff time.Duration // before the first retry
}

func limitsOf(cfg job.Config) limits {
	return limits{
		timeout: time.Duration(cfg.TimeoutSeconds) * time.Second,
		retries: cfg.Retries,
		backoff: time.Duration(cfg.RetryBackoffSeconds) * time.Second,
	}
}

// attempt calls the item's code until it succeeds, its retries are used up, or ctx ends. All
// attempts are one execution, under one token. retrying hears of each failure that is followed by
// another attempt.
func (l limits) attempt(ctx context.Context, simple job.Simple, sc job.ShardingContext,
	retrying func(err error, pause time.Duration),
) error {
	if l.retries == 0 {
		return l.once(ctx, simple, sc)
	}
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval, pauses.Multiplier = l.backoff, longestBackoff, 2
	var last error
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		last = l.once(ctx, simple, sc)
		return struct{}{}, last
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(uint(l.retries)+1), backoff.WithMaxElapsedTime(0), backoff.WithNotify(retrying))
	if err != nil && ctx.Err() != nil {
		return last // what the item said is worth more than that it was not asked again
	}
	return err
}

// once is one attempt, bounded by the timeout.
func (l limits) once(ctx context.Context, simple job.Simple, sc job.ShardingContext) error {
	if l.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.timeout, job.ErrTimeout)
		defer cancel()
	}
	sc.Offset = job.Offset(ctx)
	// A panic is an error of this item and of nothing else.
	return job.Protect(func() error { return simple.Execute(ctx, sc) })
}
