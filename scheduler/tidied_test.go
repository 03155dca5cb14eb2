package scheduler_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// lossy loses the answer of the first transaction that only deletes and has these paths in it.
type lossy struct {
	*memory.Registry
	paths map[string]bool
	lost  int
}

func (l *lossy) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	for _, txn := range txns {
		for _, w := range txn.Then {
			if w.Kind == registry.WriteDelete && l.paths[w.Path] {
				l.lost++
				delete(l.paths, w.Path)
				l.LoseAnswers(1)
			}
		}
	}
	return l.Registry.CommitAll(ctx, txns)
}

// What a leader tidies only goes. If the answer is lost, the copy finds nothing to delete, and the registry has gone on
// meanwhile with other jobs: the leader must not wait for the view of this job to show that.
func TestATidyWhoseAnswerIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T, c *cluster) {
		reg := &lossy{Registry: c.server.Open("test"), paths: map[string]bool{orders.ItemInstance(2): true, orders.FailoverLeft(fullID("gone")): true}}
		s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")))
		require.NoError(t, err)
		require.NoError(t, errOf(s.Add(t.Context(), jobOf(3), c.record("a", nil))))
		c.run(s, reg.Registry)

		over := make(chan struct{})
		var others sync.WaitGroup
		others.Go(func() {
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-over:
					return
				case now := <-tick.C:
					put(t, c.server, "/another/config", now.String())
				}
			}
		})
		defer others.Wait()
		defer close(over)

		sleepUntil(7 * time.Second)
		require.Len(t, c.take(), 3)
		c.change(jobOf(2))
		sleepUntil(12 * time.Second)
		require.Equal(t, 1, reg.lost)
		require.Len(t, c.take(), 2)
		put(t, c.server, orders.FailoverLeft(fullID("gone")), "")
		sleepUntil(17 * time.Second)
		require.Equal(t, 2, reg.lost)
		require.Len(t, c.take(), 2)
	})
}
