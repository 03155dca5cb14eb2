package home_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/federation/home"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// The directory falls silent when the job was stopped. It is not to stand still for that.
func TestAJobDoesNotWaitForASilentDirectory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.store("a")
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		stopped := false
		_, err := w.directory(func(name string, _ registry.Txn, do func() error) error {
			err := do()
			if name == "a" && !stopped {
				stopped = true
				w.handles["dir"].SetLatency(1000 * time.Hour)
			}
			return err
		}).Move(ctx, "orders", "b", home.MoveOptions{})
		require.Error(t, err, "nobody has told the directory")
		w.handles["dir"].SetLatency(0)
		there, err := jobtree.DecodeConfig(registry.Node{Path: orders.Config(), Value: w.nodes("b")[orders.Config()], Created: 1, Revision: 1})
		require.NoError(t, err)
		require.False(t, there.Disabled, "it runs in its new home")
	})
}

// An item that did not run for a request is not said to have: one that was disabled when its job moved, or that no resharding
// had come to until the request was over.
func TestARequestThatNotAllItemsRanForIsNotConfirmed(t *testing.T) {
	for _, what := range []string{"disabled", "epoch"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			op := w.ranOneOfTwo(what == "epoch")
			if what == "disabled" {
				_, err := op.DisableItem(t.Context(), "orders", 1, operate.Options{})
				require.NoError(t, err)
			} else {
				time.Sleep(2 * operate.DefaultTriggerWithin)
			}
			w.move("b")
			opb, err := operate.New(w.handles["b"], operate.By("bert", "test"))
			require.NoError(t, err)
			if what == "disabled" {
				_, err = opb.EnableItem(t.Context(), "orders", 1, operate.Options{})
				require.NoError(t, err)
			}
			res, err := opb.Trigger(t.Context(), "orders", operate.Trigger{}, operate.Options{ID: "X", Wait: true})
			unconfirmed := (*operate.UnconfirmedError)(nil)
			require.ErrorAs(t, err, &unconfirmed, what)
			require.False(t, res.Progress.Done)
		})
	}
}

// A job has been given another item, and was asked to run all of them. It moves before any resharding has come to the new one,
// which runs for the request in the new home.
func TestARequestWaitsForAnItemThatIsNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.ranOneOfTwo(true)
		before, err := jobtree.DecodeTriggered(registry.Node{Value: w.nodes("a")[orders.Triggered()]})
		require.NoError(t, err)
		w.move("b")
		after, err := jobtree.DecodeTriggered(registry.Node{Value: w.nodes("b")[orders.Triggered()]})
		require.NoError(t, err)
		before.Items = []int{1} // item 0 has run
		require.Equal(t, before, after)
		require.Equal(t, "X", after.Operation)
		nodes, revision, err := w.handles["b"].List(t.Context(), orders.Root())
		require.NoError(t, err)
		st := jobtree.StateOf("orders", registry.NewSnapshot(revision, nodes))
		require.Equal(t, []int{1}, st.Pending(time.Now()))
	})
}

// ranOneOfTwo stores a job of two items in registry a, of which the first has run for the request X, and the second not. isNew
// says that the second one has just come to the job.
func (w *world) ranOneOfTwo(isNew bool) *operate.Operator {
	t := w.t
	t.Helper()
	text, err := jobtree.EncodeConfig(job.Config{Name: "orders", Cron: "0 0 3 * * ?", ShardingTotalCount: 2})
	require.NoError(t, err)
	a := w.handles["a"]
	s, err := a.Session(t.Context())
	require.NoError(t, err)
	then := []registry.Write{registry.Put(orders.Config(), text), registry.PutOwned(orders.Instance("10.0.0.1@-@1"), "", s)}
	if isNew { // the job had one item until a moment ago
		then = append(then, registry.Put(orders.Epoch(), `{"total":1}`))
	}
	_, err = a.Commit(t.Context(), registry.Txn{Then: then})
	require.NoError(t, err)
	op, err := operate.New(a, operate.By("bert", "test"))
	require.NoError(t, err)
	r, err := op.Trigger(t.Context(), "orders", operate.Trigger{}, operate.Options{ID: "X"})
	require.NoError(t, err)
	now := time.Now()
	rec := jobtree.Record{State: jobtree.ItemIdle, Trigger: r.Revision, Current: &jobtree.Execution{
		Instance: "10.0.0.1@-@1", Session: 5, Source: job.Manual, Trigger: r.Revision, Begin: now, End: now, Outcome: jobtree.Success,
	}}
	_, err = a.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put(orders.ItemRecord(0), jobtree.EncodeRecord(rec))}})
	require.NoError(t, err)
	return op
}
