package memory_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// items returns n transactions like the begin of a round's items: four conditions, three writes.
func items(n int, s *registry.Session) []registry.Txn {
	txns := make([]registry.Txn, n)
	for i := range txns {
		item := fmt.Sprintf("/sharding/%d", i)
		txns[i] = registry.Txn{
			If: []registry.Condition{
				registry.Absent(item + "/running"), registry.Absent(item + "/disabled"),
				registry.Absent(item + "/record"), registry.Absent("/config"),
			},
			Then: []registry.Write{
				registry.PutOwned(item+"/running", "", s), registry.Put(item+"/record", ""), registry.Delete(item + "/misfire"),
			},
			Repeat: registry.RepeatOwned,
		}
	}
	return txns
}

func TestStatsCountRequests(t *testing.T) {
	tests := []struct {
		name string
		do   func(w *world, r *memory.Registry)
		want memory.Stats
	}{
		{"nothing, for an hour", func(*world, *memory.Registry) { time.Sleep(time.Hour) }, memory.Stats{}},
		{"one commit", func(w *world, r *memory.Registry) {
			w.commit(r, registry.Put("/a", ""))
		}, memory.Stats{CommitRequests: 1, Transactions: 1}},
		{"a round that fits", func(w *world, r *memory.Registry) {
			r.CommitAll(w.Context(), items(123, w.session(r)))
		}, memory.Stats{CommitRequests: 1, Transactions: 123}},
		{"a round that does not", func(w *world, r *memory.Registry) {
			r.CommitAll(w.Context(), items(124, w.session(r)))
		}, memory.Stats{CommitRequests: 2, Transactions: 124}},
		{"what cannot be sent", func(w *world, r *memory.Registry) {
			r.CommitAll(w.Context(), []registry.Txn{{}, {Then: []registry.Write{registry.Put("a", "")}}})
		}, memory.Stats{}},
		{"a lost answer", func(w *world, r *memory.Registry) {
			r.LoseAnswers(2)
			r.CommitAll(w.Context(), items(2, w.session(r)))
		}, memory.Stats{CommitRequests: 3, Transactions: 6}},
		{"reads", func(w *world, r *memory.Registry) {
			w.value(r, "/a")
			_, _, err := r.List(w.Context(), "/a")
			require.NoError(w, err)
			_, err = r.Children(w.Context(), "/a")
			require.NoError(w, err)
			w.view(r)
		}, memory.Stats{ReadRequests: 4}},
		{"what a view does afterwards", func(w *world, r *memory.Registry) {
			v := w.view(r)
			for range 10 {
				require.NoError(w, v.WaitRevision(w.Context(), w.commit(r, registry.Put("/a", ""))))
			}
		}, memory.Stats{CommitRequests: 10, Transactions: 10, ReadRequests: 1}},
		{"the time", func(w *world, r *memory.Registry) {
			_, err := r.ServerTime(w.Context())
			require.NoError(w, err)
		}, memory.Stats{TimeRequests: 1}},
		{"a latch: ticket in, look, ticket out", func(w *world, r *memory.Registry) {
			require.NoError(w, r.Latch(w.Context(), "/latch", func(context.Context) error { return nil }))
		}, memory.Stats{CommitRequests: 2, Transactions: 2, ReadRequests: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(w *world) {
				r, other := w.open(), w.open()
				tt.do(w, r)
				require.Equal(w, tt.want, r.Stats())
				require.Equal(w, tt.want, w.server.Stats())
				require.Zero(w, other.Stats())
			})
		})
	}
}

func TestServerClockCanDiffer(t *testing.T) {
	bubble(t, func(w *world) {
		r := w.open()
		w.server.SetClockSkew(-time.Hour)
		now, err := r.ServerTime(w.Context())
		require.NoError(w, err)
		require.Equal(w, time.Now().Add(-time.Hour), now)
	})
}
