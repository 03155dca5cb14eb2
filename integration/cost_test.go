package integration_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// calls counts what a process asks of a store. Keep-alives and watches do not count.
type calls struct{ txns, reads atomic.Int64 }

// intercept counts by etcd's methods.
func (c *calls) intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	switch method {
	case "/etcdserverpb.KV/Txn":
		c.txns.Add(1)
	case "/etcdserverpb.KV/Range":
		c.reads.Add(1)
	}
	return invoke(ctx, method, req, reply, conn, opts...)
}

// What a round costs is counted on the wire, for the whole way down to etcd: two transactions when
// the items end together, and no read, however many items there are; nothing at all for a job that
// is not monitored. A busy machine may keep items from ending together, so the cheapest of several
// rounds counts, or of many if those were dear; it cannot be cheaper than it is.
func TestARoundIsTwoRequestsToEtcd(t *testing.T) {
	t.Parallel()
	for _, items := range []int{1, 100} {
		for _, monitored := range []bool{true, false} {
			t.Run(fmt.Sprintf("items=%d/monitored=%t", items, monitored), func(t *testing.T) {
				t.Parallel()
				want := int64(0)
				if monitored {
					want = 2
				}
				var count calls
				reg := open(t, grpc.WithChainUnaryInterceptor(count.intercept))
				rounds := costOfRounds(t, reg, &count, items, monitored, want)
				for _, cost := range rounds {
					require.GreaterOrEqual(t, cost.txns, want, "%+v", rounds)
				}
				require.Contains(t, rounds, cost{txns: want}, "what each round cost")
			})
		}
	}
}

// cost is what one round asks of a store.
type cost struct{ txns, reads int64 }

// costOfRounds runs a job for some rounds and counts what each costs, from the start of its items to the
// start of the next round's. It goes on for a while if none cost as little as is wanted.
func costOfRounds(t *testing.T, reg registry.Registry, count *calls, items int, monitored bool, want int64) (costs []cost) {
	t.Helper()
	const rounds, most = 5, 60
	s, err := scheduler.New(reg)
	require.NoError(t, err)
	cfg := job.Config{Name: "orders", Cron: "@every 500ms", ShardingTotalCount: items}
	cfg.Unmonitored = !monitored
	started := make(chan struct{}, items)
	together := make(chan struct{})
	work := func(context.Context, job.ShardingContext) error {
		started <- struct{}{}
		<-together
		return nil
	}
	_, err = s.Add(t.Context(), cfg, job.HandlerFunc(work))
	require.NoError(t, err)
	stop := runScheduler(t, s)
	var before cost
	for round := 0; len(costs) < rounds || len(costs) < most && !slices.Contains(costs, cost{txns: want}); round++ {
		for range items {
			<-started
		}
		now := cost{count.txns.Load(), count.reads.Load()}
		if round > 1 { // the first may come while the job still settles
			costs = append(costs, cost{now.txns - before.txns, now.reads - before.reads})
		}
		before = now
		for range items {
			together <- struct{}{}
		}
	}
	close(together)
	stop()
	return costs
}

// runScheduler runs s until the returned function, or the end of the test, stops it.
func runScheduler(t *testing.T, s *scheduler.Scheduler) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	select {
	case <-s.Ready():
	case err := <-done:
		require.NoError(t, err, "Run")
	case <-time.After(2 * time.Minute):
		require.Fail(t, "not ready within two minutes")
	}
	stop = func() {
		cancel()
		err := <-done
		done <- err
		require.NoError(t, err, "Run")
	}
	t.Cleanup(stop)
	return stop
}
