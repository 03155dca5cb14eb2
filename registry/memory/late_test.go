package memory_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

func TestDuplicatesComeLaterAndOutOfOrder(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open()
		var mu sync.Mutex
		var late []memory.LateCopy
		w.server.OnLateCopy(func(l memory.LateCopy) {
			mu.Lock()
			defer mu.Unlock()
			late = append(late, l)
		})
		r.DuplicateLater(1, 2*time.Second)
		r.DuplicateLater(2, time.Second)
		put := func(value string, word registry.Repeat) error {
			_, err := r.Commit(w.Context(), registry.Txn{Then: []registry.Write{registry.Put("/a", value)}, Repeat: word})
			return err
		}
		require.NoError(w, put("1", registry.RepeatHarmless))
		require.NoError(w, put("2", registry.RepeatHarmless))
		require.NoError(w, put("never twice", 0))
		require.NoError(w, put("not disturbed", registry.RepeatHarmless))
		time.Sleep(time.Second + 1)
		require.Equal(w, "2", w.value(r, "/a"))
		time.Sleep(time.Second)
		require.Equal(w, "1", w.value(r, "/a"))
		time.Sleep(time.Hour)
		mu.Lock()
		defer mu.Unlock()
		require.Len(w, late, 2)
		require.True(w, late[0].Done)
		require.NoError(w, late[0].Err)
	})
}

// What is held back arrives also when its process is gone, and not at a server that stands still.
func TestWhatIsHeldBackOutlivesItsProcess(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(), w.open()
		for _, path := range []string{"/a", "/b"} {
			r.HoldBack(1, time.Second)
			_, err := r.Commit(w.Context(), registry.Txn{Then: []registry.Write{registry.Put(path, "late")}})
			require.ErrorIs(w, err, registry.ErrUnknownOutcome)
			require.Equal(w, "absent", w.value(other, path))
			if path == "/a" {
				time.Sleep(time.Second)
			}
		}
		require.Equal(w, "late", w.value(other, "/a"))
		r.Vanish()
		time.Sleep(time.Second)
		require.Equal(w, "late", w.value(other, "/b"))

		other.HoldBack(1, time.Second)
		_, err := other.Commit(w.Context(), registry.Txn{Then: []registry.Write{registry.Put("/c", "lost")}})
		require.ErrorIs(w, err, registry.ErrUnknownOutcome)
		w.server.Stop()
		time.Sleep(time.Second)
		w.server.Start()
		time.Sleep(time.Hour)
		require.Equal(w, "absent", w.value(other, "/c"))
	})
}
