package integration_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// traffic counts what a process and a store say to each other on watches, and what it commits.
type traffic struct{ txns, asked, heard, events atomic.Int64 }

func (t *traffic) intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	if method == "/etcdserverpb.KV/Txn" {
		t.txns.Add(1)
	}
	return invoke(ctx, method, req, reply, conn, opts...)
}

func (t *traffic) interceptStream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
	open grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	return &countedStream{stream, t}, err
}

// countedStream is any stream; only a watch's has such messages.
type countedStream struct {
	grpc.ClientStream
	traffic *traffic
}

func (s *countedStream) SendMsg(m any) error {
	if request, is := m.(*pb.WatchRequest); is && request.GetProgressRequest() != nil {
		s.traffic.asked.Add(1)
	}
	return s.ClientStream.SendMsg(m)
}

func (s *countedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if response, is := m.(*pb.WatchResponse); is && err == nil {
		s.traffic.heard.Add(1)
		s.traffic.events.Add(int64(len(response.Events)))
	}
	return err
}

// numbers are what was counted up to a moment, or between two.
type numbers struct{ txns, asked, heard, events int64 }

func (t *traffic) now() numbers {
	return numbers{t.txns.Load(), t.asked.Load(), t.heard.Load(), t.events.Load()}
}

// mostHeardOfARound is how many messages of watches a round may bring a process: its begins and its ends, each by one
// watch or a few, as its items' names are neighbours or not, and answers to how far the watches are.
const mostHeardOfARound = 10

// sharer is one of many processes of a job.
type sharer struct {
	*scheduler.Scheduler
	traffic traffic
}

// Where many processes share a job, each hears of its own items alone, and a round costs it so many messages whether there
// are ten processes or fifty. The leader and the oldest instance, which are one or two, hear of all.
func TestARoundCostsAProcessTheSameWhoeverSharesTheJob(t *testing.T) {
	t.Parallel()
	const items, rounds = 200, 8
	for _, size := range []int{10, 50} {
		t.Run(fmt.Sprintf("processes=%d", size), func(t *testing.T) {
			if testing.Short() && size > 10 {
				t.Skip("fifty processes take the whole machine")
			}
			started, over := make(chan struct{}, items), make(chan struct{})
			sharers, stop := share(t, size, items, func() {
				select {
				case started <- struct{}{}:
				case <-over:
				}
			})
			ownItems := func(s *sharer) int { return s.Health(t.Context()).Jobs[0].Followed }
			var narrow []*sharer
			deadline := time.Now().Add(5 * time.Minute)
			counted := make(map[*sharer][]numbers)
			for round := 0; round <= rounds; {
				for range items {
					select {
					case <-started:
					case <-time.After(2 * time.Minute):
						require.Fail(t, "no round within two minutes")
					}
				}
				if len(narrow) < size-2 {
					require.True(t, time.Now().Before(deadline), "%d of %d processes follow their own items", len(narrow), size)
					narrow = slices.DeleteFunc(slices.Clone(sharers), func(s *sharer) bool { return ownItems(s) == items })
					continue
				}
				for _, s := range narrow {
					counted[s] = append(counted[s], s.traffic.now())
				}
				round++
			}
			close(over)
			stop()
			var each []numbers
			for _, counts := range counted {
				for i := range rounds {
					each = append(each, counts[i+1].since(counts[i]))
				}
			}
			usual := usually(each)
			t.Logf("a round of one of %d processes: %+v", size, usual)
			require.LessOrEqual(t, usual.events, int64(4*items/size), "each begin and each end write two nodes")
			require.LessOrEqual(t, usual.heard, int64(mostHeardOfARound))
			cheapest := slices.MinFunc(each, func(a, b numbers) int { return cmp.Compare(a.asked, b.asked) }).asked
			require.LessOrEqual(t, cheapest, int64(1), "how far the watches are, once for begins and ends where they follow each other at once")
		})
	}
}

// share runs a job of which each of many processes follows its own items alone, until all are stopped.
func share(t *testing.T, size, items int, started func()) (sharers []*sharer, stop func()) {
	t.Helper()
	for i := range size {
		s := new(sharer)
		var err error
		s.Scheduler, err = scheduler.New(
			open(t, grpc.WithChainUnaryInterceptor(s.traffic.intercept), grpc.WithChainStreamInterceptor(s.traffic.interceptStream)),
			scheduler.WithInstanceID(fmt.Sprintf("10.0.0.1@-@%02d", i)), scheduler.WithFollowing(scheduler.FollowByCost),
		)
		require.NoError(t, err)
		cfg := job.Config{Name: "orders", Cron: "@every 2s", ShardingTotalCount: items}
		cfg.Misfire = job.MisfireSkip // what is noted of missed fires is no part of this
		_, err = s.Add(t.Context(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error { started(); return nil }))
		require.NoError(t, err)
		sharers = append(sharers, s)
	}
	var starts sync.WaitGroup
	stops := make([]func(), size)
	for i, s := range sharers {
		starts.Go(func() { stops[i] = runScheduler(t, s.Scheduler) })
	}
	starts.Wait()
	require.False(t, t.Failed(), "all processes start")
	return sharers, func() {
		var all sync.WaitGroup
		for _, stop := range stops {
			all.Go(stop)
		}
		all.Wait()
	}
}

// since returns what came between two counts.
func (n numbers) since(before numbers) numbers {
	return numbers{n.txns - before.txns, n.asked - before.asked, n.heard - before.heard, n.events - before.events}
}

// usually returns the median of each number: on a busy machine something else may be done in one round, and news may come
// in the next one.
func usually(each []numbers) numbers {
	all := func(of func(numbers) int64) (all []int64) {
		for _, n := range each {
			all = append(all, of(n))
		}
		return all
	}
	return numbers{
		txns:   median(all(func(n numbers) int64 { return n.txns })),
		asked:  median(all(func(n numbers) int64 { return n.asked })),
		heard:  median(all(func(n numbers) int64 { return n.heard })),
		events: median(all(func(n numbers) int64 { return n.events })),
	}
}

func median(of []int64) int64 {
	slices.Sort(of)
	return of[len(of)/2]
}
