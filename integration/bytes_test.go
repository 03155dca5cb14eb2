package integration_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/scheduler"
)

// How many bytes an execution may take, on average.
const mostSent, mostHeard = 1400, 1060

// volume counts the bytes of the messages by which a process changes nodes, and by which it hears of changes.
type volume struct{ sent, heard atomic.Int64 }

func (v *volume) intercept(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn,
	invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
) error {
	if m, is := req.(proto.Message); is && method == "/etcdserverpb.KV/Txn" {
		v.sent.Add(int64(proto.Size(m)))
	}
	return invoke(ctx, method, req, reply, conn, opts...)
}

func (v *volume) interceptStream(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
	open grpc.Streamer, opts ...grpc.CallOption,
) (grpc.ClientStream, error) {
	stream, err := open(ctx, desc, conn, method, opts...)
	if err != nil || method != "/etcdserverpb.Watch/Watch" {
		return stream, err
	}
	return &heardStream{stream, v}, nil
}

// heardStream is a watch.
type heardStream struct {
	grpc.ClientStream
	volume *volume
}

func (s *heardStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	if message, is := m.(proto.Message); is && err == nil {
		s.volume.heard.Add(int64(proto.Size(message)))
	}
	return err
}

// An execution costs the store a kilobyte and a third of requests, which it logs and sends on to its other members, and
// the process that runs it a kilobyte of news. Both are mostly the item's record, twice, and names of nodes.
func TestBytesOfAnExecution(t *testing.T) {
	t.Parallel()
	const items, rounds = 10, 14
	const settled = 3 // rounds after which records have all that they ever have
	var v volume
	s, err := scheduler.New(
		open(t, grpc.WithChainUnaryInterceptor(v.intercept), grpc.WithChainStreamInterceptor(v.interceptStream)),
		scheduler.WithInstanceID("10.0.0.1@-@worker"),
	)
	require.NoError(t, err)
	started, together := make(chan struct{}, items), make(chan struct{})
	work := func(context.Context, job.ShardingContext) error {
		started <- struct{}{}
		<-together
		return nil
	}
	cfg := job.Config{Name: "orders", Cron: "@every 500ms", ShardingTotalCount: items}
	cfg.Misfire = job.MisfireSkip // what is noted of missed fires is no part of this
	_, err = s.Add(t.Context(), cfg, job.HandlerFunc(work))
	require.NoError(t, err)
	stop := runScheduler(t, s)
	var sent, heard [rounds]int64
	for round := range rounds {
		for range items {
			select {
			case <-started:
			case <-time.After(2 * time.Minute):
				require.Fail(t, "no round within two minutes")
			}
		}
		sent[round], heard[round] = v.sent.Load(), v.heard.Load()
		for range items {
			together <- struct{}{}
		}
	}
	close(together)
	stop()
	t.Logf("an execution: %d bytes sent, %d heard", usual(sent[settled:])/items, usual(heard[settled:])/items)
	require.LessOrEqual(t, usual(sent[settled:]), int64(items*mostSent))
	require.LessOrEqual(t, usual(heard[settled:]), int64(items*mostHeard))
}

// usual returns the median of what came between two that follow each other: on a busy machine something else may be
// done in one round, and news may come in the next one.
func usual(counts []int64) int64 {
	var each []int64
	for i := range len(counts) - 1 {
		each = append(each, counts[i+1]-counts[i])
	}
	slices.Sort(each)
	return each[len(each)/2]
}
