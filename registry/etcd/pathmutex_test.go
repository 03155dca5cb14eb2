package etcd

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestPathMutexServesInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var m pathMutex
		unlock, ok := m.lock(t.Context(), "/a")
		require.True(t, ok)
		var order []int
		for i := range 5 {
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if unlock, ok := m.lock(ctx, "/a"); ok {
					order = append(order, i)
					unlock()
					unlock() // harmless
				}
			}()
			synctest.Wait()
			if i == 2 {
				cancel() // leaves the line without its turn
				synctest.Wait()
			}
			t.Cleanup(cancel)
		}
		elsewhere, ok := m.lock(t.Context(), "/b")
		require.True(t, ok, "the mutexes of two paths are one")
		elsewhere()
		unlock()
		synctest.Wait()
		require.Equal(t, []int{0, 1, 3, 4}, order)
		require.Empty(t, m.waiters)
	})
}
