package memory_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

const latency = 10 * time.Millisecond

func TestLatencyIsPaidEachWay(t *testing.T) {
	bubble(t, func(w *world) {
		slow, quick := w.open(memory.WithLatency(latency)), w.open()
		v := w.view(slow)

		start := time.Now()
		w.commit(slow, registry.Put("/a", "1"))
		require.Equal(w, 2*latency, time.Since(start))

		start = time.Now()
		revision := w.commit(quick, registry.Put("/a", "2"))
		require.Zero(w, time.Since(start))
		require.NoError(w, v.WaitRevision(w.Context(), revision))
		require.Equal(w, latency, time.Since(start))

		slow.SetLatency(0)
		start = time.Now()
		w.commit(slow, registry.Put("/a", "3"))
		require.Zero(w, time.Since(start))
	})
}

// sendAndCut starts a commit and cuts the network after a while. It returns what became of it.
func sendAndCut(ctx context.Context, r *memory.Registry, after time.Duration) error {
	time.AfterFunc(after, r.Cut)
	_, err := r.Commit(ctx, registry.Txn{
		If:   []registry.Condition{registry.Absent("/a")},
		Then: []registry.Write{registry.Put("/a", "mine")},
	})
	return err
}

func TestRequestUnderWayArrivesAfterItsCallerGaveUp(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(memory.WithLatency(latency)), w.open()
		err := sendAndCut(w.within(time.Second), r, latency/2)
		require.ErrorIs(w, err, registry.ErrUnknownOutcome)
		require.ErrorIs(w, err, context.DeadlineExceeded)
		require.Equal(w, "absent", w.value(other, "/a"))
		r.Heal()
		require.Equal(w, "mine", w.value(other, "/a"))
	})
}

func TestAnswerUnderWayIsDoneButUnknown(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(memory.WithLatency(latency)), w.open()
		err := sendAndCut(w.within(time.Second), r, latency*3/2)
		require.ErrorIs(w, err, registry.ErrUnknownOutcome)
		require.Equal(w, "mine", w.value(other, "/a"))
	})
}

func TestAnswerUnderWayComesAfterHeal(t *testing.T) {
	for _, after := range []time.Duration{latency / 2, latency * 3 / 2} {
		t.Run(after.String(), func(t *testing.T) {
			bubble(t, func(w *world) {
				r := w.open(memory.WithLatency(latency))
				start := time.Now()
				time.AfterFunc(time.Second, r.Heal)
				require.NoError(w, sendAndCut(w.Context(), r, after))
				require.GreaterOrEqual(w, time.Since(start), time.Second)
				require.Equal(w, 1, r.Stats().CommitRequests, "nothing had to be repeated")
			})
		})
	}
}

func TestCallThatNeverLeftChangesNothing(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(memory.WithLatency(latency)), w.open()
		r.Cut()
		_, err := r.Commit(w.within(time.Second), registry.Txn{Then: []registry.Write{registry.Put("/a", "")}})
		require.ErrorIs(w, err, registry.ErrUnavailable)
		require.NotErrorIs(w, err, registry.ErrUnknownOutcome)
		r.Heal()
		time.Sleep(time.Minute)
		require.Equal(w, "absent", w.value(other, "/a"))
	})
}

func TestLostAnswerIsAskedForAgain(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(memory.WithTryTimeout(time.Second)), w.open()
		r.LoseAnswers(1)
		time.AfterFunc(time.Second/2, func() { w.commit(other, registry.Put("/a", "another's")) })
		_, err := r.Commit(w.Context(), registry.Txn{
			If:     []registry.Condition{registry.Absent("/a")},
			Then:   []registry.Write{registry.Put("/a", "mine")},
			Repeat: registry.RepeatHarmless,
		})
		var conflict *registry.ConflictError
		require.ErrorAs(w, err, &conflict)
		require.True(w, conflict.Ambiguous)
		require.Equal(w, "another's", conflict.Found.Value)
	})
}

func TestUnknownWhenTheContextEndsBetweenTries(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open(memory.WithTryTimeout(time.Second))
		r.LoseAnswers(1)
		_, err := r.Commit(w.within(time.Second/2), registry.Txn{Then: []registry.Write{registry.Put("/a", "")}})
		require.ErrorIs(w, err, registry.ErrUnknownOutcome)
		require.ErrorIs(w, err, context.DeadlineExceeded)
	})
}

func TestNothingIsRepeatedInALostSession(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(memory.WithTryTimeout(2*ttl)), w.open()
		old := w.session(r)
		r.LoseAnswers(1)
		time.AfterFunc(time.Second, r.Expire)
		_, err := r.Commit(w.Context(), registry.Txn{
			Then:   []registry.Write{registry.PutOwned("/a", "", old), registry.Put("/b", "done")},
			Repeat: registry.RepeatOwned,
		})
		require.ErrorIs(w, err, registry.ErrUnknownOutcome)
		require.ErrorIs(w, err, registry.ErrSessionLost)
		require.Equal(w, "done", w.value(other, "/b"))
	})
}

func TestPausedProcessFindsItselfReplaced(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(), w.open()
		mine, watched := w.session(r), w.view(r)
		require.NoError(w, watched.WaitRevision(w.Context(), w.commit(r, registry.PutOwned("/leader", "me", mine))))

		r.Pause()
		time.Sleep(2 * ttl)
		synctest.Wait()
		require.Equal(w, registry.SessionConnected, mine.State(), "its clock stands still")
		require.Equal(w, "me", watched.Snapshot().Get("/leader").Value)
		require.Equal(w, "absent", w.value(other, "/leader"))
		w.commit(other, registry.PutOwned("/leader", "another", w.session(other)))

		r.Resume()
		require.Equal(w, registry.SessionLost, mine.State(), "it finds at once that time has passed")
		_, err := r.Commit(w.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned("/more", "", mine)}})
		require.ErrorIs(w, err, registry.ErrSessionLost)
		synctest.Wait()
		require.Equal(w, "another", watched.Snapshot().Get("/leader").Value)
		require.NotEqual(w, mine.ID(), w.session(r).ID())
	})
}

func TestShortPauseDoesNoHarm(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open()
		mine := w.session(r)
		for range 5 {
			r.Pause()
			time.Sleep(ttl / 3)
			r.Resume()
			time.Sleep(ttl)
		}
		require.Same(w, mine, w.session(r))
		require.Equal(w, registry.SessionConnected, mine.State())
	})
}

func TestCallsReturnAfterThePause(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open()
		r.Pause()
		start := time.Now()
		time.AfterFunc(time.Second, r.Resume)
		_, err := r.Get(w.within(time.Millisecond), "/a")
		require.ErrorIs(w, err, registry.ErrUnavailable)
		require.Equal(w, time.Second, time.Since(start), "a process that stands still notices no deadline")
	})
}

func TestPausedProcessCanDie(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(), w.open()
		w.commit(r, registry.PutOwned("/a", "", w.session(r)))
		r.Pause()
		r.Vanish()
		require.NoError(w, r.Close(w.Context()))
		time.Sleep(ttl)
		synctest.Wait()
		require.Equal(w, "absent", w.value(other, "/a"))
	})
}

// The first commit is held up for longer than its caller waits, and is done after the second.
func TestMessagesMayBeHeldUpOneByOne(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open(memory.WithDelays(func(m memory.Message) time.Duration {
			switch {
			case m.Kind == memory.Request && len(m.Txns) == 1 && m.Txns[0].Then[0].Value == "first":
				return time.Minute
			case m.Kind == memory.Answer && len(m.Txns) == 1:
				return latency
			}
			return 0
		}))
		_, err := r.Commit(w.within(time.Second), registry.Txn{Then: []registry.Write{registry.Put("/a", "first")}})
		require.ErrorIs(w, err, registry.ErrUnknownOutcome)
		start := time.Now()
		w.commit(r, registry.Put("/a", "second"))
		require.Equal(w, latency, time.Since(start))
		require.Equal(w, "second", w.value(r, "/a"))
		time.Sleep(time.Minute)
		require.Equal(w, "first", w.value(r, "/a"))
	})
}

func TestARequestUnderWayOutlivesItsProcess(t *testing.T) {
	bubble(t, func(w *world) {
		r, other := w.open(memory.WithLatency(latency)), w.open()
		time.AfterFunc(latency/2, r.Vanish)
		_, err := r.Commit(context.Background(), registry.Txn{Then: []registry.Write{registry.Put("/a", "mine")}})
		require.ErrorIs(w, err, registry.ErrUnknownOutcome)
		time.Sleep(latency)
		require.Equal(w, "mine", w.value(other, "/a"))
	})
}
