package integration_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry/etcd"
	"github.com/elasticron/elasticron/scheduler"
)

// Many jobs that start together share their requests, whether they are new or live in another process, which leads them:
// their subtrees are read together, and joins, elections and reshardings travel together. What each process asks is
// counted on the wire, from Run until every item has its owner.
func TestManyJobsShareTheRequestsOfAStart(t *testing.T) {
	t.Parallel()
	const jobs, most = 1000, 400 // far more than it takes, and a tenth of what it takes when each job asks by itself
	var counts [2]calls
	var leaders atomic.Pointer[reshardings] // what counts those of whoever leads
	for i, id := range []string{"10.0.0.1@-@a", "10.0.0.1@-@b"} {
		spread := &reshardings{all: make(chan struct{})}
		spread.left.Store(jobs)
		leaders.Store(spread)
		s, err := scheduler.New(openCounted(t, &counts[i]), scheduler.WithInstanceID(id), scheduler.WithObserver(toLeaders{&leaders}))
		require.NoError(t, err)
		var adds errgroup.Group
		adds.SetLimit(256)
		for n := range jobs {
			cfg := job.Config{Name: fmt.Sprintf("job-%d", n), Cron: "0 0 0 1 7 ?", ShardingTotalCount: 2}
			adds.Go(func() error {
				_, err := s.Add(t.Context(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil }))
				return err
			})
		}
		require.NoError(t, adds.Wait())
		for k := range counts {
			require.LessOrEqual(t, counts[k].take(), int64(2*most), "process %d, while the jobs were declared to process %d", k, i)
		}
		runScheduler(t, s)
		select {
		case <-spread.all:
		case <-time.After(3 * time.Minute):
			require.Fail(t, "no owners within three minutes")
		}
		for k := range counts {
			require.LessOrEqual(t, counts[k].take(), int64(most), "process %d, while process %d started", k, i)
		}
	}
}

// take returns how many requests there were since the last time.
func (c *calls) take() int64 { return c.txns.Swap(0) + c.reads.Swap(0) }

// openCounted is open with a counter of requests, none of which is repeated because the machine is busy.
func openCounted(t *testing.T, count *calls) *etcd.Registry {
	t.Helper()
	reg, err := etcd.Open(t.Context(), etcd.Config{
		Endpoints: server.Endpoints(), Namespace: strings.ReplaceAll(t.Name(), "/", "-"),
		SessionTTL: time.Minute, DialTimeout: time.Minute, RequestTimeout: 30 * time.Second,
		DialOptions: []grpc.DialOption{grpc.WithChainUnaryInterceptor(count.intercept)},
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, reg.Close(context.Background())) })
	return reg
}

// toLeaders hands the reshardings of whoever leads to whatever counts them at the time.
type toLeaders struct{ counter *atomic.Pointer[reshardings] }

// Observe counts a resharding.
func (l toLeaders) Observe(event scheduler.Event) {
	if _, is := event.(scheduler.ReshardEvent); is {
		l.counter.Load().count()
	}
}

// reshardings tells when so many jobs have been spread over their instances.
type reshardings struct {
	left atomic.Int64
	all  chan struct{}
}

func (r *reshardings) count() {
	if r.left.Add(-1) == 0 {
		close(r.all)
	}
}
