// Package execution tells code when it is to make room, when its execution is cancelled, when others may run what it runs, and when
// everything stops. The context that it gets is that of one attempt, which may end by the job's timeout before; then nobody could
// see any more that the execution was cancelled as well. Nor can an execution be cancelled twice: one that has lost its session
// would not hear of the stop that follows, nor one that is told to stop of the loss.
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

// ErrTaken says that others may run by now what an execution runs, though its session lives.
var ErrTaken = errors.New("others have declared the execution lost, for its mark is gone")

type key struct{}

// With returns a context for the attempts of an execution, which is cancelled with ctx.
func With(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, ctx) }

// Done is closed when the execution is cancelled to which the context of an attempt belongs; without one, with ctx.
func Done(ctx context.Context) <-chan struct{} { return of(ctx).Done() }

// of returns the context of the execution to which that of an attempt belongs; without one, that.
func of(ctx context.Context) context.Context {
	if execution, has := ctx.Value(key{}).(context.Context); has {
		return execution
	}
	return ctx
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

// Session is what an execution runs under: when it is over, and for how long nobody else can run the item all the same.
type Session interface {
	Done() <-chan struct{}
	Held() time.Duration
}

type sessionKey struct{}

// WithSession returns a context for the executions under a session.
func WithSession(ctx context.Context, s Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

// BeforeOthers calls do shortly before others may run what an execution runs, whatever has ended its context before: at once
// if they may by now, as its session was not over by its own deadline. It is for what goes on when its context has ended. off has
// do not called any more, and waits for it. If it was called, off waits until the execution is cancelled, too, and returns the
// cause: what do has ended before that would pass for what has failed. Without a session, nobody takes anything over.
func BeforeOthers(ctx context.Context, do func()) (off func() (cause error)) {
	s, has := ctx.Value(sessionKey{}).(Session)
	cancelled := Done(ctx)
	if !has || cancelled == nil {
		return func() error { return nil }
	}
	var cause error
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		if beforeOthers(ctx, s, over) {
			do()
			<-cancelled
			cause = context.Cause(of(ctx))
		}
	}()
	return func() error {
		close(over)
		<-done
		return cause
	}
}

// beforeOthers waits until others may soon run what an execution runs, and is false if that was over before.
func beforeOthers(ctx context.Context, s Session, over <-chan struct{}) bool {
	cancelled := Done(ctx)
	for {
		select {
		case <-over:
			return false
		case <-cancelled:
			if errors.Is(context.Cause(of(ctx)), ErrTaken) {
				return true
			}
			cancelled = nil // by a stop, or with the session
		case <-s.Done():
			last := time.NewTimer(s.Held() * 3 / 4) // the rest is for the system, which has to end the processes
			defer last.Stop()
			select {
			case <-over:
				return false
			case <-last.C:
				return true
			}
		}
	}
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
