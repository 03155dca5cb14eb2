package notify

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

type (
	put   struct{}
	found struct{}
)

// What an observer makes of a context lends its values, whatever else it is; the end stays that of the item's own.
func TestAContextThatIsCarriedHasTheEndOfTheItem(t *testing.T) {
	t.Parallel()
	for name, makes := range map[string]func(context.Context) context.Context{
		"with a value":    func(ctx context.Context) context.Context { return ctx },
		"unrelated":       func(context.Context) context.Context { return context.Background() },
		"cannot end":      context.WithoutCancel,
		"cancelled":       func(ctx context.Context) context.Context { return ended(context.WithCancel(ctx)) },
		"cancelled apart": func(context.Context) context.Context { return ended(context.WithCancel(context.Background())) },
		"has a deadline": func(ctx context.Context) context.Context {
			return ended(context.WithDeadline(ctx, time.Now().Add(-time.Hour)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				root, cancel := context.WithCancelCause(context.WithValue(t.Context(), found{}, "found"))
				root, stop := context.WithTimeout(root, time.Hour)
				defer stop()
				root = context.WithValue(root, put{}, "before")
				ctx := carry(root, context.WithValue(makes(root), put{}, "put"))
				require.Equal(t, "put", ctx.Value(put{}))
				require.Equal(t, "found", ctx.Value(found{}))
				require.NoError(t, ctx.Err())
				require.NoError(t, context.Cause(ctx))
				deadline, has := ctx.Deadline()
				require.True(t, has)
				require.Equal(t, time.Now().Add(time.Hour), deadline)

				child, drop := context.WithCancel(ctx)
				defer drop()
				var told atomic.Int64
				context.AfterFunc(ctx, func() { told.Add(1) })
				defer context.AfterFunc(child, func() { told.Add(1) })()
				cancel(io.EOF)
				require.ErrorIs(t, ctx.Err(), context.Canceled)
				require.Equal(t, io.EOF, context.Cause(ctx))
				require.Equal(t, io.EOF, context.Cause(child), "at once, as with a context of the package")
				<-ctx.Done()
				synctest.Wait()
				require.EqualValues(t, 2, told.Load())
			})
		})
	}
}

func ended(ctx context.Context, cancel context.CancelFunc) context.Context {
	cancel()
	return ctx
}

// A context that nothing cancels is carried, too.
func TestAContextWithoutAnEndIsCarried(t *testing.T) {
	t.Parallel()
	ctx := carry(context.WithValue(context.Background(), found{}, "found"), context.WithValue(context.Background(), put{}, "put"))
	require.Equal(t, "put", ctx.Value(put{}))
	require.Equal(t, "found", ctx.Value(found{}))
	require.NoError(t, context.Cause(ctx))
	require.NotNil(t, cancels, "package context looks for what cancels a context under another way by now")
}
