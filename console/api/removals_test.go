package api

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/api/wire"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// removesWhatRuns is a world in which the removal of orders was asked for, and answered while an item runs. ended has the item
// end.
func removesWhatRuns(t *testing.T) (w *world, log *bytes.Buffer, ended func()) {
	t.Helper()
	w, log = newWorld(t, nil), new(bytes.Buffer)
	w.api.log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn})) // which is read when all has ended
	w.api.removals.patience = 2 * time.Second
	t.Cleanup(w.api.Close)
	session, err := w.reg.Session(t.Context())
	require.NoError(t, err)
	mark := jobtree.For("orders").ItemRunning(0)
	_, err = w.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned(mark, first, session)}})
	require.NoError(t, err)
	require.Contains(t, w.remove(t), "the server goes on with it")
	return w, log, func() {
		_, err := w.reg.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(mark)}})
		require.NoError(t, err)
	}
}

// remove asks for the removal of orders, which has instances, and returns why it is not done yet.
func (w *world) remove(t *testing.T) string {
	t.Helper()
	got := w.ask(t, anna, "POST", "/jobs/orders/remove", wire.Asked{Force: true}, "Idempotency-Key: going")
	require.Equal(t, http.StatusAccepted, got.status, string(got.body))
	var out wire.Outcome
	got.into(t, &out)
	require.Equal(t, "items still run", out.Progress.Text)
	return out.Unconfirmed
}

// under is how many removals go on behind their answers.
func (w *world) under() int {
	w.api.removals.mu.Lock()
	defer w.api.removals.mu.Unlock()
	return len(w.api.removals.under)
}

// A job whose removal was answered while an item ran is gone when the item has ended, though nobody asks again. Who does asks
// for the same removal.
func TestARemovalGoesOnBehindItsAnswer(t *testing.T) {
	t.Parallel()
	w, _, ended := removesWhatRuns(t)
	require.Contains(t, w.remove(t), "the server goes on with it")
	require.Equal(t, 1, w.under())
	view, err := w.reg.View(t.Context(), jobtree.For("orders").Root())
	require.NoError(t, err)
	defer view.Close()
	ended()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = view.WaitFor(ctx, func(s registry.Snapshot) bool { return s.Len() == 0 })
	require.NoError(t, err, "the job is there")
}

// A removal that somebody calls off is not gone on with, and the log says so.
func TestARemovalBehindItsAnswerIsCalledOff(t *testing.T) {
	t.Parallel()
	w, log, ended := removesWhatRuns(t)
	require.Equal(t, http.StatusAccepted, w.ask(t, anna, "POST", "/jobs/orders/enable", nil).status)
	require.Eventually(t, func() bool { return w.under() == 0 }, time.Minute, time.Millisecond)
	w.api.Close()
	require.Contains(t, log.String(), "a removal was not brought to its end")
	ended()
	_, err := w.reg.Get(t.Context(), jobtree.For("orders").Config())
	require.NoError(t, err)
}

// A server that ends leaves a removal as it is and says so. What is asked for then, it does not say to go on with.
func TestAServerEndsDuringARemoval(t *testing.T) {
	t.Parallel()
	w, log, _ := removesWhatRuns(t)
	w.api.Close()
	require.Zero(t, w.under())
	require.Contains(t, log.String(), `msg="a removal was not brought to its end" namespace=shop job=orders id=going who=anna`)
	require.Contains(t, w.remove(t), "ask for it again")
	require.Eventually(t, func() bool {
		got := w.ask(t, anna, "GET", "/jobs/orders", nil)
		return bytes.Contains(got.body, []byte("is not finished: if nobody goes on with it, elasticron remove finishes it"))
	}, 10*time.Second, 50*time.Millisecond, "who looks at the job learns how it goes on")
}
