package memory_test

import (
	"fmt"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

func TestViewsCostNoGoroutine(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open()
		synctest.Wait()
		before := runtime.NumGoroutine()
		for i := range 1000 {
			v, err := r.View(w.Context(), fmt.Sprintf("/jobs/%d", i))
			require.NoError(w, err)
			v.Subscribe(func(registry.Step) {})
		}
		synctest.Wait()
		require.Less(w, runtime.NumGoroutine()-before, 500, "other tests may have started some")
	})
}

func TestForgottenHistoryCostsAFreshCopy(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(), w.open()
		v := w.view(r)
		var steps []registry.Step
		v.Subscribe(func(s registry.Step) { steps = append(steps, s) })
		r.Cut()
		for i := range 30 {
			w.commit(other, registry.Put("/a", fmt.Sprint(i)))
		}
		r.Heal()
		synctest.Wait()
		require.Equal(w, "29", v.Snapshot().Get("/a").Value)
		require.Len(w, steps, 2, "it shows the difference, not the history")
		require.Equal(w, 2, r.Stats().ReadRequests)
	}, memory.WithHistory(10))
}

func TestRememberedHistoryIsShownInFull(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(), w.open()
		v := w.view(r)
		steps := 0
		v.Subscribe(func(registry.Step) { steps++ })
		r.Cut()
		for range 30 {
			w.commit(other, registry.Put("/a", ""))
		}
		time.Sleep(time.Second)
		require.Equal(w, 1, steps)
		r.Heal()
		synctest.Wait()
		require.Equal(w, 31, steps)
		require.Equal(w, 1, r.Stats().ReadRequests)
	})
}

// TestViewBegunBehindTheFeed has a view begin with a state that the feed has already left behind.
func TestViewBegunBehindTheFeed(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(memory.WithLatency(latency)), w.open()
		first := w.view(r)
		done := make(chan *registry.View)
		go func() {
			v, _ := r.View(w.Context(), "/jobs")
			done <- v
		}()
		time.Sleep(latency + 1) // the state is read, and on its way back
		r.SetLatency(0)
		revision := w.commit(other, registry.Put("/jobs/a", "missed?"))
		require.NoError(w, first.WaitRevision(w.Context(), revision))
		late := <-done
		w.commit(other, registry.Put("/jobs/b", ""))
		synctest.Wait()
		require.Equal(w, "missed?", late.Snapshot().Get("/jobs/a").Value)
		require.Equal(w, 2, late.Snapshot().Len())
	})
}

func TestOpenRefusesNonsense(t *testing.T) {
	t.Parallel()
	server := memory.NewServer()
	for _, namespace := range []string{"", "/shop", "shop/", "a//b", "a/../b"} {
		require.Panics(t, func() { server.Open(namespace) }, namespace)
	}
	for want, nonsense := range map[string]func(){
		"memory: invalid option: TTL 0s must be positive":                                 func() { server.Open("shop", memory.WithTTL(0)) },
		"memory: invalid option: latency -1ns must not be negative":                       func() { server.Open("shop", memory.WithLatency(-1)) },
		"memory: invalid option: try timeout 0s must be positive":                         func() { server.Open("shop", memory.WithTryTimeout(0)) },
		"memory: invalid option: -1 requests at a time must not be negative":              func() { server.Open("shop", memory.WithRequests(-1)) },
		"memory: invalid option: 0 conditions and writes of a request must be at least 1": func() { memory.NewServer(memory.WithMaxOps(0)) },
		"memory: invalid option: 0 bytes of a request must be at least 1":                 func() { memory.NewServer(memory.WithMaxBytes(0)) },
		"memory: invalid option: a history of 0 commits must have at least 1":             func() { memory.NewServer(memory.WithHistory(0)) },
	} {
		require.PanicsWithError(t, want, nonsense)
	}
}
