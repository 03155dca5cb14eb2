package scheduler_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
)

// A full registry is not asked more often than a person would.
func TestAnElectionInAFullRegistry(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		a := c.start("a", nil, yearly(1))
		sleepUntil(time.Second)
		c.server.SetFull(true)
		remove(t, c.server, "/orders/leader/election/instance")
		before := a.registry.Stats().CommitRequests
		sleepUntil(4 * time.Second)
		require.Less(t, a.registry.Stats().CommitRequests-before, 20)
		c.server.SetFull(false)
		sleepUntil(7 * time.Second)
		require.NotZero(t, c.state().Leader)
	})
}

// electing notes how elections ended.
type electing struct {
	*memory.Registry
	mu       sync.Mutex
	outcomes []error
}

func (r *electing) Commit(ctx context.Context, txn registry.Txn) (registry.Revision, error) {
	revision, err := r.Registry.Commit(ctx, txn)
	if txn.Then[0].Path == orders.Leader() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.outcomes = append(r.outcomes, err)
	}
	return revision, err
}

// What is left of the time for a latch is no time for the election itself.
func TestAnElectionWaitsForItsAnswer(t *testing.T) {
	t.Parallel()
	for _, oneWay := range []time.Duration{time.Millisecond, 400 * time.Millisecond} {
		inBubble(t, func(t *testing.T, c *cluster) {
			reg := &electing{Registry: c.server.Open("test", memory.WithLatency(oneWay))}
			stop := c.serve("a", reg, nil)
			sleepUntil(30 * time.Second)
			reg.mu.Lock()
			require.Equal(t, []error{nil}, reg.outcomes, "one way takes %s", oneWay)
			reg.mu.Unlock()
			stop()
			require.NoError(t, reg.Close(context.Background()))
		})
	}
}
