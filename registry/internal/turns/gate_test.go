package turns

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func TestGateLetsThroughInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1)
		require.NoError(t, g.Enter(t.Context(), of(registry.RankBacklog, "")))
		var mu sync.Mutex
		var order []string
		note := func(name string) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, name)
		}
		var all sync.WaitGroup
		enter := func(turn registry.Turn, name string) {
			all.Go(func() {
				if err := g.Enter(t.Context(), turn); err != nil {
					note(name + ": " + err.Error())
					return
				}
				note(name)
				g.Leave()
			})
			synctest.Wait()
		}
		over := of(registry.RankFirst, "")
		over.Until = time.Now().Add(time.Second)
		enter(of(registry.RankWork, "a"), "a1")
		enter(of(registry.RankWork, "a"), "a2")
		enter(of(registry.RankWork, "b"), "b1")
		enter(over, "over")
		enter(of(registry.RankFirst, ""), "end")
		time.Sleep(2 * time.Second)
		g.Leave()
		all.Wait()
		require.Equal(t, []string{"over: not sent in time", "end", "a1", "a2", "b1"}, order)
		require.NoError(t, g.Enter(t.Context(), of(registry.RankFirst, "")), "all have left")
	})
}

func TestGateGivesUpWithTheContext(t *testing.T) {
	t.Parallel()
	g := NewGate(1)
	require.NoError(t, g.Enter(t.Context(), registry.Turn{}))
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	require.ErrorIs(t, g.Enter(ctx, registry.Turn{}), reason)
	g.Leave()
	require.ErrorIs(t, g.Enter(ctx, registry.Turn{}), reason, "though there is room")
	require.ErrorIs(t, g.Enter(t.Context(), registry.Turn{Until: time.Now()}), registry.ErrNotSent, "the same")
	require.NoError(t, g.Enter(t.Context(), registry.Turn{}), "who left takes no place")
	require.ErrorIs(t, g.Enter(t.Context(), registry.Turn{Until: time.Now()}), registry.ErrNotSent)
}

func TestGateIsLeftByThoseWhoWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(1)
		require.NoError(t, g.Enter(t.Context(), registry.Turn{}))
		reason := errors.New("the reason")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer time.AfterFunc(time.Second, func() { cancel(reason) }).Stop()
		start := time.Now()
		require.ErrorIs(t, g.Enter(ctx, registry.Turn{}), reason)
		require.Equal(t, time.Second, time.Since(start))
		g.Leave()
		require.NoError(t, g.Enter(t.Context(), registry.Turn{}))
	})
}

// Who is let through in the moment in which its turn is over, or its context, is through: nobody else would
// give the place back.
func TestGateLetsThroughInTheLastMoment(t *testing.T) {
	t.Parallel()
	const soon = 100 * time.Millisecond
	for name, enter := range map[string]func(context.Context, *Gate) error{
		"turn": func(ctx context.Context, g *Gate) error {
			return g.Enter(ctx, registry.Turn{Until: time.Now().Add(soon)})
		},
		"context": func(ctx context.Context, g *Gate) error {
			ctx, cancel := context.WithTimeout(ctx, soon)
			defer cancel()
			return g.Enter(ctx, registry.Turn{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for late := true; late; { // in which case nothing was seen
				g := NewGate(0)
				done := make(chan error, 1)
				go func() { done <- enter(t.Context(), g) }()
				require.Eventually(t, func() bool {
					g.mu.Lock()
					defer g.mu.Unlock()
					return g.waiting.Len() == 1
				}, time.Minute, time.Millisecond)
				g.mu.Lock() // it wants to leave, and cannot
				time.Sleep(soon + soon/2)
				e, ok := g.waiting.Take()
				require.True(t, ok)
				close(e.through)
				late = e.gone
				g.mu.Unlock()
				if err := <-done; !late {
					require.NoError(t, err)
				}
			}
		})
	}
}
