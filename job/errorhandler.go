package job

import (
	"context"
	"errors"
)

// ErrFailRound is what an [ErrorHandler] returns to have the round fail: the job's other items of the
// same round that run in this process are cancelled with it as the cause, those that wait are not
// started, and all of them are recorded as failed.
var ErrFailRound = errors.New("the round failed")

// ErrorHandler is told of every execution that failed. Package errorhandler has the built-in ones and
// the registry by name.
type ErrorHandler interface {
	// HandleError hears that an execution of an item of the job failed with err, a [*PanicError] if
	// its code panicked. The failure is recorded before, retries are used up before, and nothing
	// waits for the handler. One that was cancelled because its session was lost or the scheduler
	// stopped has not failed.
	//
	// It is called concurrently. The context ends when the handler takes longer than the scheduler
	// allows. An error that is [ErrFailRound] fails the round; any other, a panic, and a handler that
	// does not return are reported and change nothing.
	HandleError(ctx context.Context, job string, sc ShardingContext, err error) error
}

// ErrorHandlerFunc is a function that is an [ErrorHandler].
type ErrorHandlerFunc func(ctx context.Context, job string, sc ShardingContext, err error) error

// HandleError calls f.
func (f ErrorHandlerFunc) HandleError(ctx context.Context, job string, sc ShardingContext, err error) error {
	return f(ctx, job, sc, err)
}
