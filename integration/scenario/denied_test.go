package scenario_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/integration/zookeeper"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/zkcompat"
	"github.com/elasticron/elasticron/scheduler"
)

// On ZooKeeper a permission goes away with a single node: one that a process with another digest makes below a
// job. Who may not read it follows that job no more, and no other; after its patience the others, who may,
// have the items; and it is back when it may again.
func TestANodeOfAnotherDigestBlindsWhoMayNotReadIt(t *testing.T) {
	t.Parallel()
	zookeeper.Need(t)
	server := zookeeper.Start(t)
	const namespace, digest = "denied", "theirs:secret"
	open := func(digest, address string) *zkcompat.Registry {
		reg, err := zkcompat.Open(t.Context(), zkcompat.Config{
			Servers: []string{address}, Namespace: namespace, Digest: digest, SessionTimeout: ttl, ConnectionTimeout: connecting,
		})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, reg.Close(context.WithoutCancel(t.Context()))) })
		return reg
	}
	wire := proxy.Start(t, server.Address())
	ran := make(chan string)
	enter := func(id string, reg *zkcompat.Registry, jobs ...string) (s *scheduler.Scheduler, stop func()) {
		s, err := scheduler.New(reg, scheduler.WithInstanceID(id))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		for _, name := range jobs {
			_, err := s.Add(ctx, job.Config{Name: name, Cron: "* * * * * ?", ShardingTotalCount: 2}, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
				select {
				case ran <- id + " " + name:
				default: // nobody asks at the moment
				}
				return nil
			}), scheduler.OnConflict(scheduler.CodeWins))
			require.NoError(t, err)
		}
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		stop = func() {
			cancel()
			require.NoError(t, <-done)
			done <- nil
		}
		t.Cleanup(stop)
		<-s.Ready()
		return s, stop
	}
	await := func(want string) {
		t.Helper()
		for late := time.After(patience); ; {
			select {
			case got := <-ran:
				if got == want {
					return
				}
			case <-late:
				require.Fail(t, "does not run", want)
			}
		}
	}
	first, _ := enter(a, open("", wire.Address()), "orders", "bills")
	await(a + " orders")
	reader := open(digest, server.Address())
	session := instanceOf(t, reader, "bills", a).Session

	_, stopSecond := enter(b, open(digest, server.Address()), "orders") // whose very registration a may not read
	wire.Break()                                                        // a server tells nobody of what he may not read
	await(b + " orders")                                                // which has no item before a has left
	require.Zero(t, instanceOf(t, reader, "orders", a))
	health := jobHealth(t, first, "orders")
	require.Contains(t, health.Blind, "/"+namespace+"/orders/instances/"+b, "the node is named")
	require.Empty(t, jobHealth(t, first, "bills").Blind)
	await(a + " bills")
	require.NotEqual(t, session, instanceOf(t, reader, "bills", a).Session, "it was given up: the wish for a resharding is theirs, too")

	stopSecond()
	allowAll(t, server.Address(), digest, "/"+namespace)
	await(a + " orders")
	require.Empty(t, jobHealth(t, first, "orders").Blind)
}

// instanceOf returns an instance of a job; the zero one if it does not live.
func instanceOf(t *testing.T, reg registry.Registry, name, id string) jobtree.Instance {
	t.Helper()
	nodes, revision, err := reg.List(t.Context(), jobtree.For(name).Root())
	require.NoError(t, err)
	return jobtree.StateOf(name, registry.NewSnapshot(revision, nodes)).Instance(id)
}

func jobHealth(t *testing.T, s *scheduler.Scheduler, name string) scheduler.JobHealth {
	t.Helper()
	for _, h := range s.Health(t.Context()).Jobs {
		if h.Job == name {
			return h
		}
	}
	require.Fail(t, "no such job", name)
	return scheduler.JobHealth{}
}

// allowAll lets everybody read and write a node and all below it.
func allowAll(t *testing.T, address, digest, path string) {
	t.Helper()
	conn, _, err := zk.Connect([]string{address}, ttl, zk.WithLogInfo(false))
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.AddAuth("digest", []byte(digest)))
	for paths := []string{path}; len(paths) > 0; paths = paths[1:] {
		names, _, err := conn.Children(paths[0])
		if err != nil {
			require.ErrorIs(t, err, zk.ErrNoNode) // ended meanwhile
			continue
		}
		_, err = conn.SetACL(paths[0], zk.WorldACL(zk.PermAll), -1)
		if err != nil {
			require.ErrorIs(t, err, zk.ErrNoNode)
		}
		for _, name := range names {
			paths = append(paths, paths[0]+"/"+name)
		}
	}
}
