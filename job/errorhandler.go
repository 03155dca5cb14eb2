package job

import (
	"context"
	"errors"
)

// ErrFailRound is the error with which an [ErrorHandler] fails what began together with the item in this process and
// has not returned: the scheduler cancels these items of the [Round], with ErrFailRound as the cause, and starts none
// that still wait. It records as failed those that waited and those that return an error. What had returned before
// stays as it was.
var ErrFailRound = errors.New("the round failed")

// ErrorHandler hears of every execution that failed. Package errorhandler has the built-in handlers, and finds
// handlers by name.
type ErrorHandler interface {
	// HandleError is called after an execution failed with err, or with a [*PanicError] if the code
	// panicked. It is the error itself, as the code returned it. By then, its retries are used up, and its failure is
	// recorded. Nothing waits for the handler.
	// An execution that was cancelled, because its session was lost or the scheduler stopped, has not failed, nor has one
	// that made room, see [Yield].
	//
	// The scheduler calls it concurrently: up to two calls of a job at once in a process, while up to 1,024 failures
	// wait. A failure beyond these is not told, and only logged. The context ends when the handler takes longer than
	// the scheduler allows. If the error that it returns is [ErrFailRound], the round fails. The scheduler reports any other
	// error, a panic, and a handler that does not return; they change nothing else.
	HandleError(ctx context.Context, job string, sc ShardingContext, err error) error
}

// ErrorHandlerFunc is an [ErrorHandler] made of a function.
type ErrorHandlerFunc func(ctx context.Context, job string, sc ShardingContext, err error) error

// HandleError calls f.
func (f ErrorHandlerFunc) HandleError(ctx context.Context, job string, sc ShardingContext, err error) error {
	return f(ctx, job, sc, err)
}
