//go:build linux

package process_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

// ground is a store that the fleet of a test stands on.
type ground struct {
	t         *testing.T
	kind      string
	addresses []string
	late      time.Duration // by how much the store may end sessions later than it promises
	record    func() tape   // begins one, from now on, until the test ends
}

// onBoth runs a test over etcd and over ZooKeeper. The stores are those that all tests share which do
// not hurt them.
func onBoth(t *testing.T, test func(ground)) {
	t.Helper()
	t.Run(onEtcd, func(t *testing.T) {
		t.Parallel()
		server, err := sharedEtcd()
		require.NoError(t, err)
		var addresses []string
		for _, endpoint := range server.Endpoints() {
			addresses = append(addresses, strings.TrimPrefix(endpoint, "http://"))
		}
		test(etcdGround(t, addresses))
	})
	t.Run(onZooKeeper, func(t *testing.T) {
		t.Parallel()
		zookeeper.Need(t)
		server, err := sharedZooKeeper()
		require.NoError(t, err)
		test(zkGround(t, server))
	})
}

func etcdGround(t *testing.T, addresses []string) ground {
	t.Helper()
	record := func() tape { return startEtcdTape(t, addresses) }
	return ground{t: t, kind: onEtcd, addresses: addresses, record: record}
}

// zkTick is ZooKeeper's unit of time: sessions that are over are looked for once in it.
const zkTick = 100 * time.Millisecond

func zkGround(t *testing.T, server *zookeeper.Server) ground {
	t.Helper()
	record := func() tape { return startZKTape(t, server) }
	return ground{t: t, kind: onZooKeeper, addresses: server.Addresses(), late: zkTick, record: record}
}

// sharedEtcd is the etcd of all tests that do not hurt it. Each has a namespace.
var sharedEtcd = sync.OnceValues(func() (*embedded.Server, error) {
	server, err := embedded.Start(context.Background(), embedded.WithFastTest(), embedded.WithRetention(0))
	startedEtcd.Store(server)
	return server, err
})

// sharedZooKeeper is the ZooKeeper of all tests that do not hurt it.
var sharedZooKeeper = sync.OnceValues(func() (*zookeeper.Server, error) {
	server, err := zookeeper.Launch(context.Background(), zookeeper.WithTick(zkTick))
	startedZooKeeper.Store(server)
	return server, err
})

// The shared servers, once they run.
var (
	startedEtcd      atomic.Pointer[embedded.Server]
	startedZooKeeper atomic.Pointer[zookeeper.Server]
)

// closeShared ends the shared servers that were started.
func closeShared() {
	if server := startedEtcd.Load(); server != nil {
		_ = server.Close()
	}
	if server := startedZooKeeper.Load(); server != nil {
		_ = server.Close()
	}
}
