package executions

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/elasticron/elasticron/internal/chance"
	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/internal/inforce"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
)

// longestBackoff bounds the pause between two attempts.
const longestBackoff = time.Minute

// Limits are what a job sets for one execution of an item.
type Limits struct {
	timeout time.Duration // of one attempt; 0 = none
	retries int
	backoff time.Duration // before the first retry
}

// LimitsOf returns those of a configuration.
func LimitsOf(cfg job.Config) Limits {
	return Limits{
		timeout: cfg.Timeout,
		retries: cfg.Retries,
		backoff: inforce.RetryBackoff(cfg),
	}
}

// errTryAgain is all that the retry library hears of a failure. It would take orders from some errors,
// and what a job's code returns may wrap one that was meant for a loop of its own.
var errTryAgain = errors.New("try again")

// attempt calls the item's code until it succeeds, its retries are used up, or ctx ends, and returns
// what the last attempt did. All attempts are one execution, under one token. retrying hears of each
// failure that is followed by another attempt. Without retries, a panic and the end of the goroutine
// are left to the caller.
func (l Limits) attempt(ctx context.Context, code job.HandlerFunc, sc job.ShardingContext,
	retrying func(err error, pause time.Duration),
) error {
	ctx = execution.With(ctx)
	if l.retries == 0 {
		return l.once(ctx, code, sc)
	}
	pauses := scattered{backoff.NewExponentialBackOff(), sc.TaskID + strconv.Itoa(sc.Item)}
	pauses.InitialInterval, pauses.MaxInterval, pauses.Multiplier, pauses.RandomizationFactor = l.backoff, longestBackoff, 2, 0
	var last error
	_, _ = backoff.Retry(ctx, func() (struct{}, error) {
		if last != nil && ctx.Err() != nil { // both came to their end in a process that stood still: the pause and the right to run
			return struct{}{}, backoff.Permanent(errTryAgain)
		}
		if last = protect.Call(func() error { return l.once(ctx, code, sc) }); last != nil {
			return struct{}{}, errTryAgain
		}
		return struct{}{}, nil
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(uint(l.retries)+1), backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(_ error, pause time.Duration) { retrying(last, pause) }))
	return last // what the item said is worth more than that it was not asked again
}

// scattered makes each pause shorter or longer by up to a half, so that items that failed together do not try again together.
type scattered struct {
	*backoff.ExponentialBackOff
	what string // whose pauses they are
}

// NextBackOff implements [backoff.BackOff].
func (s scattered) NextBackOff() time.Duration {
	pause := s.ExponentialBackOff.NextBackOff()
	return pause/2 + chance.Within(pause, time.Now(), s.what)
}

// once is one attempt, bounded by the timeout.
func (l Limits) once(ctx context.Context, code job.HandlerFunc, sc job.ShardingContext) error {
	if l.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.timeout, job.ErrTimeout)
		defer cancel()
	}
	sc.Offset = job.Offset(ctx)
	return code(ctx, sc)
}
