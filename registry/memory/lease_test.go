package memory_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

func TestClaimIsTakenUpAgain(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(), w.open()
		old := w.session(r)
		created := w.commit(r, registry.PutOwned("/a", "", old))
		r.Cut()
		<-old.Done()
		r.Heal()
		next := w.session(r)
		require.Equal(w, old.ID(), next.ID())
		require.NotSame(w, old, next)
		time.Sleep(10 * ttl)
		n, err := other.Get(w.Context(), "/a")
		require.NoError(w, err)
		require.Equal(w, created, n.Created)
		_, err = r.Commit(w.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/b", "", old)}})
		require.ErrorIs(w, err, registry.ErrSessionLost, "though the store would accept its id")
	})
}

func TestExpiryIsCountedFromTheLastKeepAlive(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(), w.open()
		mine, v := w.session(r), w.view(other)
		w.commit(r, registry.PutOwned("/a", "", mine))
		start := time.Now()
		r.Cut()
		<-mine.Done()
		require.Equal(w, ttl*5/6, time.Since(start), "the owner stops a margin earlier")
		_, err := v.WaitFor(w.Context(), func(s registry.Snapshot) bool { return s.Len() == 0 })
		require.NoError(w, err)
		require.Equal(w, ttl, time.Since(start))
	})
}

func TestRestartGivesSessionsAFreshTTL(t *testing.T) {
	bubble(t, func(w *world) {
		r, dead := w.open(), w.open()
		mine, v := w.session(r), w.view(r)
		w.commit(r, registry.PutOwned("/a", "", mine))
		require.NoError(w, v.WaitRevision(w.Context(), w.commit(dead, registry.PutOwned("/dead", "", w.session(dead)))))
		dead.Vanish()
		w.server.Stop()
		require.Equal(w, registry.SessionSuspended, mine.State(), "the connection broke")
		time.Sleep(100 * ttl)
		require.Equal(w, registry.SessionLost, mine.State())
		start := time.Now()
		w.server.Start()
		require.Equal(w, mine.ID(), w.session(r).ID())
		_, err := v.WaitFor(w.Context(), func(s registry.Snapshot) bool { return !s.Get("/dead").Exists() })
		require.NoError(w, err)
		require.Equal(w, ttl, time.Since(start))
		require.True(w, v.Snapshot().Get("/a").Exists())
	})
}

func TestShortStopOnlySuspends(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open()
		mine := w.session(r)
		w.server.Stop()
		late := w.server.Open("shop", memory.WithTTL(ttl))
		time.Sleep(ttl / 2)
		w.server.Start()
		synctest.Wait()
		require.Equal(w, registry.SessionConnected, mine.State())
		require.NotZero(w, w.session(late).ID(), "one that came while it was down")
		require.NoError(w, late.Close(w.Context()))
	})
}

func TestLossIsNoticedByACommit(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open()
		mine := w.session(r)
		r.Expire()
		require.Equal(w, registry.SessionConnected, mine.State())
		_, err := r.Commit(w.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/a", "", mine)}})
		require.ErrorIs(w, err, registry.ErrSessionLost)
		require.Equal(w, registry.SessionLost, mine.State(), "rather than by the next keep-alive")
		start := time.Now()
		w.session(r)
		require.Zero(w, time.Since(start))
	})
}

func TestTicketLeftDuringACutIsRemoved(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(memory.WithLatency(latency)), w.open()
		mine := w.session(r)
		time.AfterFunc(latency/2, r.Cut)
		err := r.Latch(w.within(time.Second), "/latch", nil)
		require.ErrorIs(w, err, registry.ErrUnavailable)
		r.Heal()
		time.Sleep(time.Second)
		nodes, _, err := other.List(w.Context(), "/latch")
		require.NoError(w, err)
		require.Empty(w, nodes, "a ticket that arrived late would block everybody")
		require.Same(w, mine, w.session(r), "for as long as its session lives")
	})
}

// Keep-alives are sent a third of the TTL apart, however long their answers are under way.
func TestASessionHoldsWhenAnswersTakeLong(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open(memory.WithLatency(ttl * 14 / 100))
		session := w.session(r)
		time.Sleep(20 * ttl)
		require.NoError(w, session.Err())
		require.Equal(w, registry.SessionConnected, session.State())
	})
}
