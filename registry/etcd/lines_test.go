package etcd

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestLinesServeInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l lines
		leave, ok := l.enter(t.Context(), "/a")
		require.True(t, ok)
		var order []int
		for i := range 5 {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if leave, ok := l.enter(ctx, "/a"); ok {
					order = append(order, i)
					leave()
					leave() // harmless
				}
			}()
			synctest.Wait()
			if i == 2 {
				cancel() // leaves the line without its turn
				synctest.Wait()
			}
			t.Cleanup(cancel)
		}
		elsewhere, ok := l.enter(t.Context(), "/b")
		require.True(t, ok, "lines do not know of each other")
		elsewhere()
		leave()
		synctest.Wait()
		require.Equal(t, []int{0, 1, 3, 4}, order)
		require.Empty(t, l.queues)
	})
}
