package scheduler_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// An item's numbers are the cluster's, wherever it ran; a server's are its own.
func TestStatistics(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		work := func(_ context.Context, sc job.ShardingContext) error {
			time.Sleep(2 * time.Second)
			if sc.Item == 1 {
				return errors.New("out of stock")
			}
			return nil
		}
		a := c.start("a", work, jobOf(2))
		sleepUntil(9 * time.Second)
		b := c.start("b", work, jobOf(2)) // takes an item over
		sleepUntil(24 * time.Second)
		requests := b.registry.Stats()
		ofA, err := ordersOf(t, a).Statistics(t.Context())
		require.NoError(t, err)
		ofB, err := ordersOf(t, b).Statistics(t.Context())
		require.NoError(t, err)
		require.Equal(t, requests, b.registry.Stats(), "it asks nothing of the registry")
		require.Equal(t, ofA.Items, ofB.Items)
		require.Equal(t, int64(4), ofA.Items[0].Success)
		require.Equal(t, int64(4), ofA.Items[1].Failure)
		item := ofA.Items[0]
		require.Equal(t, bubbleStart.Add(20*time.Second), item.LastFire)
		require.Equal(t, bubbleStart.Add(20*time.Second), item.LastBegin)
		require.Equal(t, bubbleStart.Add(22*time.Second), item.LastEnd)
		require.Equal(t, bubbleStart.Add(25*time.Second), item.NextFire)
		require.Equal(t, 2*time.Second, item.Duration)
		require.Zero(t, item.Lateness)
		require.Equal(t, "success", item.LastOutcome)
		require.Equal(t, item.Owner, item.LastRunner)
		require.Empty(t, item.LastError)
		require.Equal(t, "failure", ofB.Items[1].LastOutcome)
		require.Equal(t, "out of stock", ofB.Items[1].LastError)
		servers := []scheduler.ServerStatistics{ofA.Server, ofB.Server}
		require.Equal(t, int64(4), servers[0].Success+servers[1].Success)
		require.Equal(t, int64(4), servers[0].Failure+servers[1].Failure)
		require.Equal(t, int64(5), servers[0].Success+servers[0].Failure, "both of the first round, one of each later one")
		require.Zero(t, servers[0].Interrupted+servers[1].Interrupted)
		gone := ordersOf(t, a)
		require.NoError(t, gone.Leave(t.Context()))
		_, err = gone.Statistics(t.Context())
		require.ErrorIs(t, err, scheduler.ErrUnknownJob)
		over, end := context.WithCancel(t.Context())
		end()
		_, err = ordersOf(t, b).Statistics(over)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// What a server counts of an execution is what the record of the item says of it: code that made room has not failed.
func TestAServerCountsAsItsItemsDo(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, c *cluster) {
		ends := []func(ctx context.Context) error{
			func(context.Context) error { return errors.New("out of stock") },
			func(ctx context.Context) error { <-job.Yield(ctx); return job.ErrYielded },
			func(context.Context) error { return job.ErrYielded }, // nobody had told it to
			func(context.Context) error { return nil },
		}
		began := 0
		a := c.start("a", func(ctx context.Context, _ job.ShardingContext) error {
			began++
			return ends[began-1](ctx)
		}, jobOf(1))
		sleepUntil(11 * time.Second)
		put(t, c.server, jobtree.For("orders").ItemDisabled(0), "")
		sleepUntil(12 * time.Second)
		remove(t, c.server, jobtree.For("orders").ItemDisabled(0))
		sleepUntil(21 * time.Second)
		of, err := ordersOf(t, a).Statistics(t.Context())
		require.NoError(t, err)
		item, server := of.Items[0], of.Server
		require.Equal(t, []int64{1, 2, 1}, []int64{item.Success, item.Failure, item.Interrupted})
		require.Equal(t, scheduler.ServerStatistics{Instance: server.Instance, Success: 1, Failure: 2, Interrupted: 1}, server)
	})
}
