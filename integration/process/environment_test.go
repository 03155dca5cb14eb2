//go:build linux

package process_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/registry/zkcompat"
)

// environment is a store over which the cluster of a test runs.
type environment struct {
	t            *testing.T
	kind         string
	addresses    []string
	sessionSlack time.Duration    // by how much the store may end sessions later than it promises
	record       func() recording // begins one, from now on, until the test ends
}

// onBoth runs a test over etcd and over ZooKeeper. The stores are those that all tests share which do
// not break them.
func onBoth(t *testing.T, test func(environment)) {
	t.Helper()
	t.Run(onEtcd, func(t *testing.T) {
		t.Parallel()
		server, err := sharedEtcd()
		require.NoError(t, err)
		var addresses []string
		for _, endpoint := range server.Endpoints() {
			addresses = append(addresses, strings.TrimPrefix(endpoint, "http://"))
		}
		test(etcdEnvironment(t, addresses))
	})
	t.Run(onZooKeeper, func(t *testing.T) {
		t.Parallel()
		zookeeper.Need(t)
		server, err := sharedZooKeeper()
		require.NoError(t, err)
		test(zkEnvironment(t, server))
	})
}

func etcdEnvironment(t *testing.T, addresses []string) environment {
	t.Helper()
	record := func() recording { return startEtcdRecording(t, addresses) }
	return environment{t: t, kind: onEtcd, addresses: addresses, record: record}
}

// zkTick is ZooKeeper's unit of time: sessions that are over are looked for once in it.
const zkTick = 100 * time.Millisecond

func zkEnvironment(t *testing.T, server *zookeeper.Server) environment {
	t.Helper()
	record := func() recording { return startZKRecording(t, server) }
	return environment{t: t, kind: onZooKeeper, addresses: server.Addresses(), sessionSlack: zkTick, record: record}
}

// sharedEtcd is the etcd of all tests that do not break it. Each has a namespace.
var sharedEtcd = sync.OnceValues(func() (*etcdserver.Server, error) {
	server, err := etcdserver.Start(context.Background(), etcdserver.WithFastTest(), etcdserver.WithRetention(0))
	startedEtcd.Store(server)
	return server, err
})

// sharedZooKeeper is the ZooKeeper of all tests that do not break it.
var sharedZooKeeper = sync.OnceValues(func() (*zookeeper.Server, error) {
	server, err := zookeeper.Launch(context.Background(), zookeeper.WithTick(zkTick))
	startedZooKeeper.Store(server)
	return server, err
})

// The shared servers, once they run.
var (
	startedEtcd      atomic.Pointer[etcdserver.Server]
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

// The kinds of stores.
const (
	onEtcd      = "etcd"
	onZooKeeper = "ZooKeeper"
)

// registryConfig is where a process finds its registry.
type registryConfig struct {
	Kind      string
	Addresses []string // of the store's servers
	Namespace string
	TTL       time.Duration // of the session; 0 = the backend's default
}

// registryHandle is a registry that can end as a crash would.
type registryHandle interface {
	registry.Registry
	Vanish()
}

func (p registryConfig) open(ctx context.Context, log *slog.Logger) (registryHandle, error) {
	if p.Kind == onZooKeeper {
		return zkcompat.Open(ctx, zkcompat.Config{
			Servers: p.Addresses, Namespace: p.Namespace, SessionTimeout: p.TTL,
			ConnectionTimeout: waitTimeout, Logger: log,
		})
	}
	return etcd.Open(ctx, etcd.Config{
		Endpoints: urls(p.Addresses), Namespace: p.Namespace, SessionTTL: p.TTL,
		DialTimeout: waitTimeout, Logger: log,
	})
}

func urls(addresses []string) []string {
	var all []string
	for _, a := range addresses {
		all = append(all, "http://"+a)
	}
	return all
}
