package integration_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/zkcompat"
	"github.com/elasticron/elasticron/scheduler"
)

// runners tells which instance ran which items.
type runners struct {
	mu  sync.Mutex
	ran map[int]int // the instance that last ran each item
}

func (r *runners) note(item, instance int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ran == nil {
		r.ran = make(map[int]int)
	}
	r.ran[item] = instance
}

// of returns how many items were last run by each instance.
func (r *runners) of() map[int]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := make(map[int]int)
	for instance := range maps.Values(r.ran) {
		count[instance]++
	}
	return count
}

// startOnZooKeeper runs an instance of the job and returns what ends it.
func startOnZooKeeper(t *testing.T, server *zookeeper.Server, ran *runners, instance int) (stop func()) {
	t.Helper()
	reg, err := zkcompat.Open(t.Context(), zkcompat.Config{
		Servers: server.Addresses(), Namespace: "acme/test", SessionTimeout: 4 * time.Second, ConnectionTimeout: time.Minute,
	})
	require.NoError(t, err)
	s, err := scheduler.New(reg)
	require.NoError(t, err)
	work := func(_ context.Context, sc job.ShardingContext) error {
		ran.note(sc.Item, instance)
		return nil
	}
	_, err = s.Add(t.Context(), job.Config{Name: "orders", Cron: "@every 500ms", ShardingTotalCount: 4}, job.HandlerFunc(work))
	require.NoError(t, err)
	end := runScheduler(t, s)
	stop = sync.OnceFunc(func() {
		end()
		require.NoError(t, reg.Close(context.WithoutCancel(t.Context())))
	})
	t.Cleanup(stop)
	return stop
}

func TestASchedulerOverZooKeeperSharesItems(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t)
	ran := new(runners)
	stopFirst := startOnZooKeeper(t, server, ran, 1)
	waitForShares(t, ran, map[int]int{1: 4})
	startOnZooKeeper(t, server, ran, 2)
	waitForShares(t, ran, map[int]int{1: 2, 2: 2})
	stopFirst()
	waitForShares(t, ran, map[int]int{2: 4})
}

// countedFrames is a connection to ZooKeeper that counts what is asked on it.
type countedFrames struct {
	net.Conn
	count  *calls
	hailed bool
}

func (c *countedFrames) Write(frame []byte) (int, error) {
	const opMulti, opCheck, opSync, opPing = 14, 13, 9, 11
	kind := uint32(opPing)
	if c.hailed { // before, it is the greeting
		kind = binary.BigEndian.Uint32(frame[8:])
	}
	c.hailed = true
	switch kind {
	case opSync, opPing: // they keep the session
	case opMulti:
		if len(frame) > 40 || binary.BigEndian.Uint32(frame[12:]) != opCheck { // so does one that only checks a znode
			c.count.txns.Add(1)
		}
	default:
		c.count.reads.Add(1)
	}
	return c.Conn.Write(frame)
}

// On ZooKeeper a round of a few items is two multis, and nothing is read: views show what a begin and an end compare,
// and the answers to the multis show what they left behind.
func TestARoundIsTwoRequestsToZooKeeper(t *testing.T) {
	t.Parallel()
	server := zookeeper.Start(t)
	for _, items := range []int{1, 10} {
		t.Run(fmt.Sprintf("items=%d", items), func(t *testing.T) {
			t.Parallel()
			var count calls
			reg, err := zkcompat.Open(t.Context(), zkcompat.Config{
				Servers: server.Addresses(), Namespace: fmt.Sprintf("cost-%d", items), SessionTimeout: time.Minute, ConnectionTimeout: time.Minute,
				Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					conn, err := new(net.Dialer).DialContext(ctx, network, address)
					return &countedFrames{Conn: conn, count: &count}, err
				},
			})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
			require.Contains(t, costOfRounds(t, reg, &count, items, true, 2), cost{txns: 2}, "what each round cost")
		})
	}
}

func waitForShares(t *testing.T, ran *runners, want map[int]int) {
	t.Helper()
	require.Eventually(t, func() bool { return maps.Equal(want, ran.of()) }, 2*time.Minute, 50*time.Millisecond)
}
