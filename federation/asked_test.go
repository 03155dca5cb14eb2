package federation_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
)

// at is an operator of one registry.
func (w *world) at(name string) (op *operate.Operator, closed func()) {
	w.t.Helper()
	handle := w.servers[name].Open("shop")
	op, err := operate.New(handle, operate.By("bert", "test"))
	require.NoError(w.t, err)
	return op, handle.Vanish
}

// Nothing of a request by hand goes with a job when all of its items have run. Who asks again with its id, where the job is
// now, is told so, and not that somebody did something else; also after further moves.
func TestARequestIsConfirmedAfterAMove(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cfg := job.Config{Name: "orders", Cron: "0 0 3 * * ?", ShardingTotalCount: 2, Failover: true}
		w.start(to("b"), []job.Config{cfg})
		time.Sleep(10 * time.Second)
		asks := func(name, id string, opts operate.Options) (operate.Result, error) {
			op, closed := w.at(name)
			defer closed()
			opts.ID = id
			return op.Trigger(t.Context(), "orders", operate.Trigger{}, opts)
		}
		_, err := asks("b", "X", operate.Options{})
		require.NoError(t, err)
		time.Sleep(time.Second) // both run
		for _, name := range []string{"c", "a", "b"} {
			w.move("orders", name)
			before := w.book.counts()
			result, err := asks(name, "X", operate.Options{Wait: true})
			require.NoError(t, err)
			require.True(t, result.Repeated)
			require.True(t, result.Progress.Done)
			require.Equal(t, "items had run for it when the job came from another registry", result.Progress.Text)
			require.Len(t, result.Progress.Items, 2)
			require.Empty(t, result.Progress.Failed())
			require.Equal(t, before, w.book.counts())
		}
		w.stop()
	})
}

// A request that was over before its items had begun is not taken for one that ran.
func TestARequestThatWasOverBeforeAMove(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cfg := job.Config{Name: "orders", Cron: "0 0 3 * * ?", ShardingTotalCount: 2}
		p := w.start(to("b"), []job.Config{cfg})
		time.Sleep(10 * time.Second)
		op, closed := w.at("b")
		defer closed()
		p.mu.Lock()
		p.handles["b"].SetLatency(time.Hour) // it hears of nothing
		p.mu.Unlock()
		_, err := op.Trigger(t.Context(), "orders", operate.Trigger{Within: time.Second}, operate.Options{ID: "X"})
		require.NoError(t, err)
		p.kill()
		time.Sleep(time.Minute)
		w.move("orders", "c")
		there, gone := w.at("c")
		defer gone()
		_, err = there.Trigger(t.Context(), "orders", operate.Trigger{}, operate.Options{ID: "X", Wait: true})
		require.ErrorContains(t, err, "under a number that is not known here")
	})
}
