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
		require.Equal(t, []string{"over: not sent in time", "end", "a1", "b1", "a2"}, order)
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
	require.NoError(t, g.Enter(t.Context(), registry.Turn{}), "who left takes no place")
	require.ErrorIs(t, g.Enter(t.Context(), registry.Turn{Until: time.Now()}), registry.ErrNotSent)
}
