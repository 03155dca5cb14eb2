package scheduler_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// slowReads is a registry that holds the answers to reads of item 0, and may lose an answer to commits.
type slowReads struct {
	*memory.Registry
	loses atomic.Bool
	held  atomic.Bool
	asked atomic.Int32 // reads that were held
	let   chan struct{}
}

func (r *slowReads) Get(ctx context.Context, path string) (registry.Node, error) {
	if path == ofOrders.ItemRecord(0) && r.held.Load() {
		r.asked.Add(1)
		select {
		case <-r.let:
		case <-ctx.Done():
			return registry.Node{}, context.Cause(ctx)
		}
	}
	return r.Registry.Get(ctx, path)
}

func (r *slowReads) CommitAll(ctx context.Context, txns []registry.Txn) []registry.Outcome {
	outcomes := r.Registry.CommitAll(ctx, txns)
	if r.loses.CompareAndSwap(true, false) {
		for i := range outcomes {
			outcomes[i] = registry.Outcome{Err: registry.ErrUnknownOutcome}
		}
	}
	return outcomes
}

const (
	answerLost  = "its answer is lost"
	foreignNode = "a foreign session holds the record"
)

// refusalsOfAnEnd are the ways in which the end of item 0, which runs from 5 s to 7 s, comes to be refused.
var refusalsOfAnEnd = map[string]func(t *testing.T, c *cluster, reg *slowReads){
	answerLost: func(_ *testing.T, _ *cluster, reg *slowReads) {
		sleepUntil(6900 * time.Millisecond)
		reg.loses.Store(true)
	},
	foreignNode: func(t *testing.T, c *cluster, _ *slowReads) {
		sleepUntil(6 * time.Second)
		hand := c.server.Open("test")
		t.Cleanup(func() { require.NoError(t, hand.Close(context.Background())) })
		session, err := hand.Session(t.Context())
		require.NoError(t, err)
		record := ofOrders.ItemRecord(0)
		_, err = hand.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Delete(record)}})
		require.NoError(t, err)
		_, err = hand.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.PutOwned(record, "mine", session)}})
		require.NoError(t, err)
	},
}

// withARefusedEnd runs the job "orders" with two items in one process. The end of item 0 is refused, in each of these
// ways, and the answer to what the process then reads is held.
func withARefusedEnd(t *testing.T, ways []string, test func(t *testing.T, c *cluster, a *instance, reg *slowReads)) {
	t.Helper()
	for _, name := range ways {
		refuse := refusalsOfAnEnd[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(t *testing.T, c *cluster) {
				reg := &slowReads{Registry: c.server.Open("test"), let: make(chan struct{})}
				s, err := scheduler.New(reg, scheduler.WithInstanceID(fullID("a")), scheduler.WithStopTimeout(10*time.Second))
				require.NoError(t, err)
				cfg := jobOf(2)
				cfg.Misfire = job.MisfireSkip
				require.NoError(t, errOf(s.Add(t.Context(), cfg, c.record("a", func(_ context.Context, sc job.ShardingContext) error {
					if sc.Item == 0 {
						time.Sleep(2 * time.Second)
					}
					return nil
				}))))
				a := c.run(s, reg.Registry)
				<-a.Ready()
				sleepUntil(5500 * time.Millisecond)
				reg.held.Store(true)
				refuse(t, c, reg)
				sleepUntil(9 * time.Second)
				require.Equal(t, int32(1), reg.asked.Load(), "the refused end is looked into")
				c.take()
				test(t, c, a, reg)
			})
		})
	}
}

// While the registry does not answer what a refused end is about, the other items of the job run on, and nothing else of
// its own item begins. When the answer is there, the item goes on as well.
func TestOtherItemsDoNotWaitForARefusedEnd(t *testing.T) {
	t.Parallel()
	withARefusedEnd(t, []string{answerLost, foreignNode}, func(t *testing.T, c *cluster, _ *instance, reg *slowReads) {
		sleepUntil(22 * time.Second)
		require.Equal(t, []string{
			"item 1 fire 10s scheduled on a", "item 1 fire 15s scheduled on a", "item 1 fire 20s scheduled on a",
		}, c.shown())
		reg.held.Store(false)
		close(reg.let)
		synctest.Wait()
		record := c.state().Item(0).Record
		require.Equal(t, jobtree.Counts{Success: 1}, record.Value.Counts)
		require.Equal(t, jobtree.ItemIdle, record.Value.State)
		sleepUntil(29 * time.Second)
		require.ElementsMatch(t, []string{"item 0 fire 25s scheduled on a", "item 1 fire 25s scheduled on a"}, c.shown())
	})
}

// A session that ends meanwhile ends the look as well; the next one records the end.
func TestASessionEndsWhileARefusedEndIsLookedInto(t *testing.T) {
	t.Parallel()
	withARefusedEnd(t, []string{answerLost}, func(t *testing.T, c *cluster, _ *instance, reg *slowReads) {
		reg.Expire()
		sleepUntil(9500 * time.Millisecond)
		require.Equal(t, int32(2), reg.asked.Load(), "the next session asks again")
		reg.held.Store(false)
		close(reg.let)
		synctest.Wait()
		require.Equal(t, jobtree.Counts{Success: 1}, c.state().Item(0).Record.Value.Counts)
		sleepUntil(18 * time.Second)
		c.take()
		sleepUntil(24 * time.Second)
		require.ElementsMatch(t, []string{"item 0 fire 20s scheduled on a", "item 1 fire 20s scheduled on a"}, c.shown())
	})
}

// A stop waits for the answer, and ends without one when its time is over.
func TestAStopWhileARefusedEndIsLookedInto(t *testing.T) {
	t.Parallel()
	withARefusedEnd(t, []string{answerLost, foreignNode}, func(t *testing.T, c *cluster, a *instance, reg *slowReads) {
		a.cancel()
		sleepUntil(12 * time.Second)
		require.Empty(t, a.done, "it waits")
		if c.state().Item(0).Record.Err == nil { // the end was recorded, and its answer lost
			reg.held.Store(false)
			close(reg.let)
			synctest.Wait()
			require.Len(t, a.done, 1)
			return
		}
		_ = a.ended() // however the stop went
		require.Less(t, time.Since(bubbleStart), 25*time.Second)
	})
}

// The end is recorded and its answer lost, and the job is removed before the process knows. It marks nothing of what has
// returned: nothing is left of the job meanwhile, and who creates it again need not wait for the answer.
func TestAJobIsRemovedWhileARefusedEndIsLookedInto(t *testing.T) {
	t.Parallel()
	withARefusedEnd(t, []string{answerLost}, func(t *testing.T, c *cluster, _ *instance, reg *slowReads) {
		require.Equal(t, jobtree.ItemIdle, c.state().Item(0).Record.Value.State, "the end is recorded")
		c.removeJob("orders")
		sleepUntil(11 * time.Second)
		require.Empty(t, c.nodes("/orders"))
		c.start("b", nil, jobOf(2))
		sleepUntil(19 * time.Second)
		runs := c.shown()
		require.Len(t, runs, 2, "each item runs for the fire of second 15")
		require.Contains(t, runs, "item 0 fire 15s scheduled on b")
		reg.held.Store(false)
		close(reg.let)
		sleepUntil(29 * time.Second)
		require.Len(t, c.shown(), 4, "the job goes on")
	})
}
