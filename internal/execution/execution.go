// Package execution tells code when its execution is cancelled. The context that it gets is that of one attempt, which may
// end by the job's timeout before; then nobody could see any more that the execution was cancelled as well.
package execution

import "context"

type key struct{}

// With returns a context for the attempts of an execution, which is cancelled with ctx.
func With(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, ctx.Done()) }

// Done is closed when the execution is cancelled to which the context of an attempt belongs; without one, with ctx.
func Done(ctx context.Context) <-chan struct{} {
	if done, has := ctx.Value(key{}).(<-chan struct{}); has {
		return done
	}
	return ctx.Done()
}
