package memory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

func TestLimitsCanBeSet(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open()
		three := []registry.Write{registry.Put("/a", ""), registry.Put("/b", ""), registry.Put("/c", "")}
		w.commit(r, three...)
		_, err := r.Commit(w.Context(), registry.Txn{Then: append(three, registry.Put("/d", ""))})
		require.ErrorIs(w, err, registry.ErrTooLarge)
		require.ErrorContains(w, err, "4 conditions or writes, at most 3")

		w.commit(r, registry.Put("/a", "12345678"))
		_, err = r.Commit(w.Context(), registry.Txn{Then: []registry.Write{registry.Put("/a", "123456789")}})
		require.ErrorIs(w, err, registry.ErrTooLarge)
		require.ErrorContains(w, err, "11 bytes, at most 10")
	}, memory.WithMaxOps(3), memory.WithMaxBytes(10))
}
