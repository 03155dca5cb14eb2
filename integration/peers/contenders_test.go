package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/integration/zookeeper"
)

// contender is a library with its store.
type contender struct {
	name  string
	kind  string                           // of the program of this folder; empty for Java
	store func(tb testing.TB) *storeAtWork // nil for who needs none, and so shares no work
}

// storeAtWork is a store in a process of its own.
type storeAtWork struct {
	addresses []string
	pid       int
}

// contenders are all, ours first.
func contenders() []contender {
	return []contender{
		{name: "Elasticron on etcd", kind: kindElasticron, store: startEtcd},
		{name: "Elasticron on ZooKeeper", kind: kindElasticronZK, store: startZooKeeper},
		{name: "Elastic-Job-Lite 2.1.5 on ZooKeeper", store: startZooKeeper},
		{name: "gocron with a mutex in etcd", kind: kindGocron, store: startEtcd},
		{name: "robfig/cron, one process", kind: kindRobfig},
	}
}

func startEtcd(tb testing.TB) *storeAtWork {
	tb.Helper()
	server, err := etcdserver.Start(tb.Context())
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, server.Close()) })
	return &storeAtWork{server.Endpoints(), server.PID()}
}

// startZooKeeper starts one with ZooKeeper's own defaults: a tick of two seconds, and a log that is forced to the disk.
func startZooKeeper(tb testing.TB) *storeAtWork {
	tb.Helper()
	server := zookeeper.Start(tb, zookeeper.WithTick(2*time.Second), zookeeper.WithForcedSync(), zookeeper.WithWholeCompiler(), zookeeper.WithHeap("512m"))
	return &storeAtWork{server.Addresses(), server.PID()}
}

// cluster is a contender at work.
type cluster struct {
	processes []process
	store     *storeAtWork // nil without
}

// start starts processes, one after the other, as a deployment does. Who shares no work is started once.
func (c contender) start(tb testing.TB, processes int, w work) *cluster {
	tb.Helper()
	a := assignment{Kind: c.kind, Namespace: "peers", Work: w}
	started := &cluster{}
	if c.store == nil {
		processes = 1
	} else {
		started.store = c.store(tb)
		a.Stores = started.store.addresses
	}
	for n := range processes {
		if c.kind == "" {
			started.processes = append(started.processes, startJava(tb, n, a))
		} else {
			started.processes = append(started.processes, startGo(tb, a))
		}
	}
	return started
}

// ran is what ran in all processes so far.
func (c *cluster) ran() []ran {
	var all []ran
	for _, p := range c.processes {
		all = append(all, p.Ran()...)
	}
	return all
}

// cpu is the processor time that the processes, and their store, have used so far.
func (c *cluster) cpu(tb testing.TB) (processes, store time.Duration) {
	tb.Helper()
	for _, p := range c.processes {
		processes += cpu(tb, p.PID())
	}
	if c.store != nil {
		store = cpu(tb, c.store.pid)
	}
	return processes, store
}
