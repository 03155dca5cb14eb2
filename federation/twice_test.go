package federation_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// A job is in two registries, as after one of them was restored from a backup of before it moved, and processes have the older
// one. Somebody removes that, as get jobs says: they go on with the other one, without a restart, and their tokens rise.
func TestAJobThatIsInTwoRegistriesIsRemovedFromOne(t *testing.T) {
	t.Parallel()
	for _, older := range []string{"a", "b"} { // the directory, and one of which it says that the job is there
		synctest.Test(t, func(t *testing.T) { isRemovedFromOne(t, older) })
	}
}

func isRemovedFromOne(t *testing.T, older string) {
	t.Helper()
	w := newWorld(t)
	all := jobs(1)
	name := all[0].Name
	p := w.start(to(older), all)
	between(30 * time.Second)
	w.operates("c", func(op *operate.Operator) error {
		_, err := op.Create(t.Context(), all[0], operate.Options{})
		return err
	})
	other := w.servers["c"].Open("shop")
	defer other.Vanish()
	_, err := other.Commit(t.Context(), registry.Txn{Then: []registry.Write{
		registry.Put(jobtree.For(name).Tokens(), jobtree.EncodeTokens(jobtree.Tokens{Base: 1000000})),
	}})
	require.NoError(t, err)
	between(time.Minute)
	require.Equal(t, older, homes(p)[name])
	w.removes(name, older)
	before := w.book.counts()
	time.Sleep(40 * time.Second)
	require.Equal(t, "c", homes(p)[name])
	require.NoError(t, p.f.Jobs()[0].Waits())
	require.GreaterOrEqual(t, w.book.counts()[name+"/0"], before[name+"/0"]+3)
	// Who starts now finds it there, too, and would wait for c if that were away: the directory was told.
	require.Equal(t, "c", w.start(to(older), all).f.Jobs()[0].Registry())
	handle := w.servers["a"].Open("shop")
	defer handle.Vanish()
	word, err := handle.Get(t.Context(), jobtree.For(name).Config())
	require.NoError(t, err)
	e, _ := jobtree.DecodeElsewhere(word)
	require.Equal(t, jobtree.Elsewhere{Home: "c"}, e)
	w.stop()
}

// A process that has the job runs on where the job was removed. Nobody begins it in the other registry meanwhile.
func TestWhatRunsWhereTheJobWasRemovedEndsBeforeItGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		cfg := job.Config{Name: "slow", Cron: "@every 10s", ShardingTotalCount: 2}
		var running, most atomic.Int64
		code := job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			if sc.Item != 0 {
				return nil
			}
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			select {
			case <-time.After(10 * time.Minute):
			case <-ctx.Done(): // its process stops
			}
			return nil
		})
		for range 2 {
			_, err := w.start(to("b"), nil).f.Add(t.Context(), cfg, code)
			require.NoError(t, err)
		}
		w.operates("c", func(op *operate.Operator) error {
			_, err := op.Create(t.Context(), cfg, operate.Options{})
			return err
		})
		between(30 * time.Second)
		require.Equal(t, int64(1), running.Load())
		hand := w.servers["b"].Open("shop") // an operator's command would wait until the item has ended
		_, err := hand.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(jobtree.For("slow").Config())}})
		require.NoError(t, err)
		require.NoError(t, hand.Close(context.Background()))
		time.Sleep(30 * time.Minute)
		require.Equal(t, int64(1), most.Load())
		for _, p := range w.procs {
			require.Equal(t, "c", homes(p)["slow"])
		}
		require.Equal(t, int64(1), running.Load())
		w.stop()
	})
}
