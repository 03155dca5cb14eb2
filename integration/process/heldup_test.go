//go:build linux

package process_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/integration/proxy"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/scheduler"
)

// What the code of the story saves, and what is written before and after it on the same way.
const (
	firstSave, secondSave = "the first checkpoint", "the second checkpoint"
	keyBefore, keyAfter   = "/story/before", "/story/after"
)

// TestACheckpointDoesNotGoBack holds a save up in the middle of etcd. The member that was asked passes
// it on to the leader, and there it stays under way, while the connection of the process breaks, the
// save is repeated at another member and confirmed, and so is the save after it. Then the first try
// arrives, and the leader carries it out like any other: etcd knows no age of a request.
//
// Two other writes take the same way, one before the save and one after it. When both are done, so is
// what was between them.
func TestACheckpointDoesNotGoBack(t *testing.T) {
	t.Parallel()
	// The story is about one leader: to another one nothing is held up on the way.
	s := startEtcdClusterOf(t, t.ArtifactDir(), 3, etcdserver.Member{PeerTimeout: 5 * time.Minute, Election: 10 * time.Second})
	leader := s.awaitLeader()
	var asked, other *member
	for _, m := range s.members {
		if m != leader {
			asked, other = m, asked
		}
	}
	// A member passes requests on in its answer to a call of the leader's.
	heldUp := asked.network.From(memberName(leader.id))
	toAsked, toOther := proxy.Start(t, asked.set.Client), proxy.Start(t, other.set.Client)
	toOther.Cut()

	code := &savingJob{begun: make(chan job.ShardingContext), next: make(chan string), saved: make(chan error, 2)}
	observer := code.run(t, s.addresses(), []string{toAsked.Address(), toOther.Address()})
	first := receive(t, code.begun, "the first run")
	require.Empty(t, first.Offset)

	heldUp.CutDown()
	holdUp(t, asked, heldUp, keyBefore)
	seen := heldUp.Sees(firstSave)
	code.next <- firstSave
	receive(t, seen, "the save that is held up")
	toAsked.Cut()
	toAsked.Break()
	toOther.Heal()
	require.NoError(t, receive(t, code.saved, "the save to be repeated"))
	code.next <- secondSave
	require.NoError(t, receive(t, code.saved, "the second save"))
	holdUp(t, asked, heldUp, keyAfter)
	require.Empty(t, values(t, other, keyBefore, keyAfter), "nothing was held up")

	heldUp.Heal()
	require.Eventually(t, func() bool { return len(values(t, other, keyBefore, keyAfter)) == 2 }, waitTimeout, 10*time.Millisecond,
		"what was held up arrives")
	checkpoint, err := observer.Get(t.Context(), jobtree.For("orders").Offset(0))
	require.NoError(t, err)
	require.Equal(t, secondSave, checkpoint.Value)
	close(code.next)
	require.Equal(t, secondSave, receive(t, code.begun, "the next run").Offset)
}

// savingJob is a job whose code saves what it is told to.
type savingJob struct {
	begun chan job.ShardingContext
	next  chan string
	saved chan error
}

// run has an instance run the job until the test ends, and returns a handle of
// somebody who looks on.
func (c *savingJob) run(t *testing.T, all, its []string) (observer *etcd.Registry) {
	t.Helper()
	open := func(endpoints []string) *etcd.Registry {
		r, err := etcd.Open(t.Context(), etcd.Config{Endpoints: endpoints, Namespace: "story", SessionTTL: time.Minute, DialTimeout: waitTimeout})
		require.NoError(t, err)
		return r
	}
	observer = open(all)
	own := open(its)
	t.Cleanup(func() { require.NoError(t, observer.Close(context.WithoutCancel(t.Context()))) })
	process, err := scheduler.New(own, scheduler.WithInstanceID("127.0.0.1@-@p1"))
	require.NoError(t, err)
	cfg := job.Config{Name: "orders", Cron: "* * * * * ?", ShardingTotalCount: 1}
	cfg.Misfire = job.MisfireSkip
	_, err = process.Add(t.Context(), cfg, job.HandlerFunc(c.execute))
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	over := make(chan error, 1)
	go func() { over <- process.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-over)
		require.NoError(t, own.Close(context.WithoutCancel(ctx)))
	})
	return observer
}

func (c *savingJob) execute(ctx context.Context, sc job.ShardingContext) error {
	select {
	case c.begun <- sc:
	case <-ctx.Done():
	}
	for ctx.Err() == nil {
		select {
		case offset, more := <-c.next:
			if !more {
				return nil
			}
			c.saved <- job.SaveOffset(ctx, offset)
		case <-ctx.Done():
		}
	}
	return context.Cause(ctx)
}

// holdUp writes a key through one member until that has passed it on. A member that has lost sight of the leader for a
// moment, as on a busy machine, passes nothing on.
func holdUp(t *testing.T, through *member, where *proxy.Network, key string) {
	t.Helper()
	seen := where.Sees(key)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() {
		for ctx.Err() == nil {
			_, _ = through.client.Put(ctx, key, "")
		}
	}()
	receive(t, seen, "the write of "+key+", which is held up")
}

// values returns those of some keys that there are.
func values(t *testing.T, from *member, keys ...string) (found []string) {
	t.Helper()
	for _, key := range keys {
		got, err := from.client.Get(t.Context(), key)
		require.NoError(t, err)
		if got.Count > 0 {
			found = append(found, key)
		}
	}
	return found
}

// receive returns what a channel brings in time.
func receive[T any](t *testing.T, from <-chan T, what string) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(waitTimeout):
		require.Fail(t, "nothing came", "waiting for "+what)
	}
	return value
}
