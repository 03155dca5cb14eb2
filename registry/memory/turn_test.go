package memory_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// turned is a transaction with a turn.
func turned(name string, rank registry.Rank, until time.Time) registry.Txn {
	return registry.Txn{Then: []registry.Write{registry.Put("/"+name, "")}, Turn: registry.Turn{Rank: rank, Until: until}}
}

// finished are commits, in the order in which they came to an end, and when that was.
type finished struct {
	start time.Time
	mu    sync.Mutex
	order []string
	at    map[string]time.Duration
	errs  map[string]error
	all   sync.WaitGroup
}

func (f *finished) begin(w *world, name string, r *memory.Registry, txns ...registry.Txn) {
	w.Helper()
	f.all.Go(func() {
		outcomes := r.CommitAll(w.Context(), txns)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.order, f.at[name], f.errs[name] = append(f.order, name), time.Since(f.start), outcomes[0].Err
	})
	time.Sleep(time.Millisecond)
}

func begun() *finished {
	return &finished{start: time.Now(), at: make(map[string]time.Duration), errs: make(map[string]error)}
}

// A handle with a bound sends what waits by its turns, a request by that of the most urgent that it carries,
// and for as long as one of them makes sense.
func TestRequestsGoByTheirTurns(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open(memory.WithRequests(1), memory.WithLatency(500*time.Millisecond))
		f := begun()
		in := func(d time.Duration) time.Time { return f.start.Add(d) }
		f.begin(w, "under way", r, turned("a", registry.RankFirst, in(time.Millisecond)))
		f.begin(w, "late", r, turned("b", registry.RankBacklog, time.Time{}))
		f.begin(w, "over", r, turned("c", registry.RankFirst, in(900*time.Millisecond)))
		f.begin(w, "work", r, turned("d", registry.RankWork, time.Time{}))
		f.begin(w, "both", r, turned("e", registry.RankBacklog, in(10*time.Second)), turned("f", registry.RankFirst, in(2*time.Second)))
		f.begin(w, "until the longest", r, turned("g", registry.RankBacklog, in(900*time.Millisecond)), turned("h", registry.RankBacklog, in(time.Minute)))
		f.begin(w, "for ever", r, turned("i", registry.RankBacklog, in(900*time.Millisecond)), turned("j", registry.RankBacklog, time.Time{}), turned("k", registry.RankBacklog, in(time.Second)))
		f.all.Wait()
		require.Equal(w, []string{"over", "under way", "both", "work", "late", "until the longest", "for ever"}, f.order)
		require.Equal(w, 900*time.Millisecond, f.at["over"])
		for i, name := range []string{"under way", "both", "work", "late", "until the longest", "for ever"} {
			require.Equal(w, time.Duration(i+1)*time.Second, f.at[name], name)
		}
		for name, err := range f.errs {
			if slices.Contains([]string{"over", "until the longest", "for ever"}, name) {
				require.ErrorIs(w, err, registry.ErrNotSent, name)
			} else {
				require.NoError(w, err, name)
			}
		}
		for name, done := range map[string]bool{"c": false, "g": false, "h": true, "i": false, "j": true, "k": false} {
			require.Equal(w, done, w.value(r, "/"+name) != "absent", name)
		}
	})
}

// What waits for the network is given up when its turn is over, and what has none waits on.
func TestATurnThatEndsInACut(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open()
		f := begun()
		r.Cut()
		f.begin(w, "over", r, turned("a", registry.RankWork, f.start.Add(time.Second)))
		f.begin(w, "for ever", r, turned("b", registry.RankWork, time.Time{}))
		time.Sleep(time.Minute)
		r.Heal()
		f.all.Wait()
		require.Equal(w, []string{"over", "for ever"}, f.order)
		require.Equal(w, time.Second, f.at["over"])
		require.ErrorIs(w, f.errs["over"], registry.ErrNotSent)
		require.NoError(w, f.errs["for ever"])
		require.Equal(w, "absent", w.value(r, "/a"))
	})
}

// A caller that gives up is told that, and not that its turn was over.
func TestATurnWhoseCallerGaveUp(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open(memory.WithRequests(1), memory.WithLatency(time.Second))
		f := begun()
		f.begin(w, "under way", r, turned("a", registry.RankFirst, time.Time{}))
		_, err := r.Commit(w.within(100*time.Millisecond), turned("b", registry.RankWork, f.start.Add(time.Minute)))
		require.ErrorIs(w, err, registry.ErrUnavailable)
		require.ErrorIs(w, err, context.DeadlineExceeded)
		f.all.Wait()
		require.Equal(w, "absent", w.value(r, "/b"))
	})
}
