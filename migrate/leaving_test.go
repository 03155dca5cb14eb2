package migrate_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/migrate"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// movingOn is what elasticron move notes of the job "orders" when it stops it.
var movingOn = jobtree.EncodeOperated(jobtree.Operated{Moving: &jobtree.Moving{To: "two", Move: "X", Since: time.Unix(1_700_000_000, 0)}})

// stops does what elasticron move does to a job that it is to bring to another registry of a federation, unless somebody
// migrates the job. It tells whether it did.
func (w *world) stops(reg *memory.Registry) bool {
	w.Helper()
	orders := jobtree.For("orders")
	nodes, revision, err := reg.List(context.Background(), orders.Root())
	require.NoError(w, err)
	shown := registry.NewSnapshot(revision, nodes)
	if mark, err := jobtree.DecodeMove(shown.Get(orders.Move())); err != nil || mark.State != "" && mark.State != jobtree.MoveReturned || mark.Away {
		return false
	}
	_, err = reg.Commit(context.Background(), registry.Txn{
		If: []registry.Condition{
			registry.Unchanged(orders.Config(), shown.Get(orders.Config()).Revision), registry.Unchanged(orders.Move(), shown.Get(orders.Move()).Revision),
		},
		Then: []registry.Write{
			registry.Put(orders.Config(), configOf(w, func(c *job.Config) { c.Disabled = true })), registry.Put(orders.Operated(), movingOn),
		},
	})
	require.NoError(w, err)
	return true
}

// What a move to another registry of a federation has stopped is nobody's wish, neither in the source nor in the target.
func TestAJobThatAFederationMovesIsLeftAlone(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		of   func(*world) *memory.Registry
		text string
	}{
		"the source": {of: func(w *world) *memory.Registry { return w.source }, text: "in the source"},
		"the target": {of: func(w *world) *memory.Registry { return w.target }, text: "in the target"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bubble(t, func(w *world) {
				w.has(w.source, "/orders/config", configOf(w, nil))
				w.has(test.of(w), "/orders/config", configOf(w, nil))
				require.True(w, w.stops(test.of(w)))
				source, target := w.nodes(w.source), w.nodes(w.target)
				overwrite := migrate.Options{Overwrite: true}
				for _, apply := range []bool{false, true} {
					overwrite.Apply = apply
					report, err := migrate.Move(w.Context(), w.source, w.target, migrate.MoveOptions{Options: overwrite})
					require.NoError(w, err)
					require.False(w, report.Complete())
					require.Contains(w, report.Jobs[0].Reason, test.text+`: it was stopped at 2023-11-14T22:13:20Z to be moved to registry "two": complete that`)
					copied := w.one(overwrite)
					require.Equal(w, migrate.Refused, copied.Action)
					require.Contains(w, copied.Reason, test.text)
					require.Contains(w, copied.Reason, `to be moved to registry "two"`)
				}
				require.Equal(w, source, w.nodes(w.source))
				require.Equal(w, target, w.nodes(w.target))
			})
		})
	}
}

// A federation's move stops the job before any of this mover's requests, or finds that this one has it. Who comes second leaves
// it alone: the target never takes that stop for what an operator wants.
func TestAFederationMovesTheJobMeanwhile(t *testing.T) {
	t.Parallel()
	stopped := 0
	for request, over := 1, false; !over; request++ {
		over = true
		bubble(t, func(w *world) {
			w.has(w.source, "/orders/config", configOf(w, nil))
			did := false
			source, target := w.watched(func(n int) error {
				if n == request {
					over, did = false, w.stops(w.source)
				}
				return nil
			}, nothing)
			report, err := migrate.Move(w.Context(), source, target, applyMove)
			require.NoError(w, err)
			moved := report.Jobs[0]
			if !did {
				require.True(w, moved.Done, moved.Reason)
				_, there := w.sides()
				require.True(w, there)
				return
			}
			stopped++
			require.False(w, moved.Done, fmt.Sprint(request, moved.Steps))
			require.Contains(w, moved.Reason, `to be moved to registry "two"`)
			require.NotContains(w, w.nodes(w.source), "/orders/leader/move", "the other move goes on")
			// Somebody calls the other one off, and this one goes on.
			w.has(w.source, "/orders/config", configOf(w, nil))
			require.True(w, w.goes(migrate.Move).Done)
			_, there := w.sides()
			require.True(w, there)
		})
	}
	require.Positive(t, stopped)
}

// What is noted of a federation's move that was called off hinders nobody, also while the job is disabled for this one.
func TestAFederationMoveThatWasCalledOff(t *testing.T) {
	t.Parallel()
	bubble(t, func(w *world) {
		w.has(w.source, "/orders/config", configOf(w, nil), "/orders/operated", movingOn)
		for _, way := range []direction{migrate.Move, migrate.Return, migrate.Move, migrate.Confirm} {
			moved := w.goes(way)
			require.True(w, moved.Done, moved.Reason)
		}
		_, there := w.sides()
		require.True(w, there)
	})
}
