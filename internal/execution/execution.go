// Package execution tells code when it is to make room, when its execution is cancelled, and when everything stops. The context
// that it gets is that of one attempt, which may end by the job's timeout before; then nobody could see any more that the
// execution was cancelled as well. Nor can an execution be cancelled twice: one that has lost its session would not hear of the
// stop that follows.
package execution

import (
	"context"
	"errors"
	"time"
)

// ErrStopped is the cause with which the contexts of executions end that a stop cancels.
var ErrStopped = errors.New("scheduler stopped")

// LastWords is how long code has to return whose context a stop has ended. Then its item is given up, and the process may end.
const LastWords = time.Second

type key struct{}

// With returns a context for the attempts of an execution, which is cancelled with ctx.
func With(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, ctx) }

// Done is closed when the execution is cancelled to which the context of an attempt belongs; without one, with ctx.
func Done(ctx context.Context) <-chan struct{} {
	if execution, has := ctx.Value(key{}).(context.Context); has {
		return execution.Done()
	}
	return ctx.Done()
}

type stopKey struct{}

// WithStop returns a context whose executions hear of a stop when stop ends, whatever has cancelled them before.
func WithStop(ctx, stop context.Context) context.Context {
	return context.WithValue(ctx, stopKey{}, stop)
}

// Stop returns the context that ends when a stop cancels all executions; without one, a context that never ends.
func Stop(ctx context.Context) context.Context {
	if stop, has := ctx.Value(stopKey{}).(context.Context); has {
		return stop
	}
	return context.Background()
}

// Told tells whether code was told to come to an end, by the channel that its execution offers it for that, or by a stop that
// has ended its context. A stop that leaves no time does both at once, and code may see the end of its context first.
func Told(ctx context.Context, yield <-chan struct{}) bool {
	select {
	case <-yield:
		return true
	default:
		return errors.Is(context.Cause(ctx), ErrStopped)
	}
}
