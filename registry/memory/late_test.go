package memory_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
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

// From when it is calm on, requests are what they were; what was disturbed before stays so.
func TestCalmEndsWhatNoRequestHasMet(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open()
		put := func(value string) error {
			_, err := r.Commit(w.Context(), registry.Txn{Then: []registry.Write{registry.Put("/a", value)}, Repeat: registry.RepeatHarmless})
			return err
		}
		r.DuplicateLater(2, time.Second)
		require.NoError(w, put("1"))
		r.HoldBack(3, time.Second)
		r.LoseAnswers(3)
		r.Calm()
		began := time.Now()
		require.NoError(w, put("2"))
		require.Zero(w, time.Since(began))
		time.Sleep(time.Second + 1)
		require.Equal(w, "1", w.value(r, "/a"))
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

// A ticket that is put once more when its latch was given back holds nobody up, though its session lasts.
func TestALateTicketHoldsNobodyUp(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(), w.open()
		latched := func(r *memory.Registry) time.Duration {
			begin := time.Now()
			ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
			defer cancel()
			require.NoError(w, r.Latch(ctx, "/latch", func(context.Context) error { return nil }))
			return time.Since(begin)
		}
		late := 0
		w.server.OnLateCopy(func(l memory.LateCopy) {
			require.NoError(w, l.Err)
			late++
		})
		begin := time.Now()
		r.HoldBack(1, time.Second)
		require.Less(w, latched(r), time.Second)
		time.Sleep(time.Until(begin.Add(time.Second)))
		synctest.Wait()
		require.Equal(w, 1, late, "the ticket is there again")
		require.Zero(w, latched(other))
		names, err := other.Children(w.Context(), "/latch")
		require.NoError(w, err)
		require.Empty(w, names)
	})
}
