package backend_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// bound makes a view whose life is that of a context, and returns what unbinds it.
func bound(lives *backend.Lives, ctx context.Context) (*registry.View, func()) {
	var mu sync.Mutex // a view may end at once
	var life *backend.Life
	var feed *backend.Feed
	unbind := func() {
		mu.Lock()
		defer mu.Unlock()
		life.Unbind(feed)
	}
	mu.Lock()
	defer mu.Unlock()
	view, feed := backend.NewView("/orders", registry.Snapshot{}, func(context.Context, registry.Revision) {}, unbind)
	life = lives.Bind(ctx, feed)
	return view, unbind
}

// Views end with their own contexts, also those that share one, and those whose context is over when they come.
func TestViewsEndWithTheirContexts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var lives backend.Lives
		oops, other := errors.New("oops"), errors.New("another reason")
		one, end := context.WithCancelCause(t.Context())
		two, endTwo := context.WithCancelCause(t.Context())
		defer endTwo(nil)
		type key struct{}
		a, _ := bound(&lives, one)
		b, _ := bound(&lives, context.WithValue(one, key{}, "which ends with the first"))
		c, _ := bound(&lives, two)
		forever, _ := bound(&lives, context.Background())
		unbound, unbind := bound(&lives, one)
		unbind()
		unbind()
		closed, _ := bound(&lives, one)
		closed.Close()
		end(oops)
		synctest.Wait()
		require.ErrorIs(t, a.Err(), oops)
		require.ErrorIs(t, b.Err(), oops)
		require.NoError(t, c.Err())
		require.NoError(t, unbound.Err())
		require.NoError(t, forever.Err())
		require.ErrorIs(t, closed.Err(), registry.ErrClosed)

		late, _ := bound(&lives, one)
		synctest.Wait()
		require.ErrorIs(t, late.Err(), oops)
		c.Close()
		again, _ := bound(&lives, two) // after the last of its context was unbound
		endTwo(other)
		synctest.Wait()
		require.ErrorIs(t, again.Err(), other)
	})
}
