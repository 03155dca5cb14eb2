package job

import (
	"context"
	"errors"
)

// ErrFailRound is the error with which an [ErrorHandler] fails the whole round in this process: the scheduler
// cancels the other items of the round, with ErrFailRound as the cause, starts none that still wait, and records
// all of them as failed.
var ErrFailRound = errors.New("the round failed")

// ErrorHandler hears of every execution that failed. Package errorhandler has the built-in handlers, and finds
// handlers by name.
type ErrorHandler interface {
	// HandleError is called after an execution failed with err, or with a [*PanicError] if the code
	// panicked. By then, its retries are used up, and its failure is recorded. Nothing waits for the handler.
	// An execution that was cancelled, because its session was lost or the scheduler stopped, has not failed.
	//
	// The scheduler calls it concurrently. The context ends when the handler takes longer than the scheduler
	// allows. If the error that it returns is [ErrFailRound], the round fails. The scheduler reports any other
	// error, a panic, and a handler that does not return; they change nothing else.
	HandleError(ctx context.Context, job string, sc ShardingContext, err error) error
}

// ErrorHandlerFunc is an [ErrorHandler] made of a function.
type ErrorHandlerFunc func(ctx context.Context, job string, sc ShardingContext, err error) error

// HandleError calls f.
func (f ErrorHandlerFunc) HandleError(ctx context.Context, job string, sc ShardingContext, err error) error {
	return f(ctx, job, sc, err)
}
