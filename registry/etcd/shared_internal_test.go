package etcd

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
)

// slowStore answers every read after the same time. What is at "big" is more than a large answer.
type slowStore struct {
	clientv3.KV
	takes    time.Duration
	requests atomic.Int64
}

func (s *slowStore) Do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	s.requests.Add(1)
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return clientv3.OpResponse{}, ctx.Err()
	}
	if op.IsGet() {
		return (*clientv3.GetResponse)(rangeOf(op)).OpResponse(), nil
	}
	answer := &pb.TxnResponse{Header: &pb.ResponseHeader{Revision: 1}}
	_, parts, _ := op.Txn()
	for _, part := range parts {
		answer.Responses = append(answer.Responses, &pb.ResponseOp{Response: &pb.ResponseOp_ResponseRange{ResponseRange: rangeOf(part)}})
	}
	return (*clientv3.TxnResponse)(answer).OpResponse(), nil
}

func rangeOf(op clientv3.Op) *pb.RangeResponse {
	found := &pb.RangeResponse{Header: &pb.ResponseHeader{Revision: 1}}
	if string(op.KeyBytes()) == "big" {
		found.Kvs = []*mvccpb.KeyValue{{Value: make([]byte, largeAnswer+1)}}
	}
	return found
}

// slowRegistry returns a handle on such a store that can do no more than read.
func slowRegistry(t *testing.T, takes time.Duration) (*sharedReads, *slowStore) {
	t.Helper()
	store := &slowStore{takes: takes}
	client := clientv3.NewCtxClient(t.Context())
	client.KV = store
	r := &Registry{client: client, life: t.Context(), config: Config{Endpoints: []string{"one"}, RequestTimeout: time.Second}}
	return newSharedReads(r), store
}

// reads returns so many ranges.
func reads(key string, n int) []clientv3.Op {
	ops := make([]clientv3.Op, n)
	for i := range ops {
		ops[i] = clientv3.OpGet(key)
	}
	return ops
}

// After large answers fewer reads share a request, and after small ones more again.
func TestReadsShareRequestsAgainAfterLargeAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, store := slowRegistry(t, time.Millisecond)
		for range 8 {
			_, _, err := s.read(t.Context(), reads("big", 2)...)
			require.NoError(t, err)
		}
		synctest.Wait() // what was learnt is kept after the answer is out
		require.Equal(t, leastShare, s.share)
		store.requests.Store(0)
		const readers = 300
		var reading sync.WaitGroup
		for range readers {
			reading.Go(func() {
				_, _, err := s.read(t.Context(), reads("small", 2)...)
				require.NoError(t, err)
			})
		}
		reading.Wait()
		require.LessOrEqual(t, store.requests.Load(), int64(20))
		synctest.Wait()
		require.Equal(t, maxOps, s.share)
	})
}

// A read that stands in the line for longer than a try may take is sent once, and does not count as a failure of the store.
func TestTheTimeOfATryBeginsWhenItIsSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const takes, readers = 600 * time.Millisecond, 5 * readsInFlight
		s, store := slowRegistry(t, takes)
		begin := time.Now()
		var reading sync.WaitGroup
		for range readers {
			reading.Go(func() {
				parts, _, err := s.read(t.Context(), reads("small", maxOps)...) // too many for two of them in a request
				require.NoError(t, err)
				require.Len(t, parts, maxOps)
			})
		}
		reading.Wait()
		require.Equal(t, int64(readers), store.requests.Load())
		require.Equal(t, takes*readers/readsInFlight, time.Since(begin))
	})
}

// A caller leaves the line when its context ends. The store has not failed by that, and nobody else waits longer.
func TestWhoLeavesTheLineHasNotSeenTheStoreFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, store := slowRegistry(t, 600*time.Millisecond)
		var reading sync.WaitGroup
		for range readsInFlight {
			reading.Go(func() {
				_, _, err := s.read(t.Context(), reads("small", maxOps)...)
				require.NoError(t, err)
			})
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, _, err := s.read(ctx, reads("small", 1)...)
		require.ErrorIs(t, err, registry.ErrUnavailable)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.False(t, strings.Contains(err.Error(), "last try"), err)
		require.Nil(t, s.r.lastFailure.last.Load())
		reading.Wait()
		require.Equal(t, int64(readsInFlight), store.requests.Load())
	})
}

// A store that does not answer a try in time has failed, however long the try was in the line.
func TestATryThatIsNotAnsweredInTimeIsAFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, store := slowRegistry(t, 1500*time.Millisecond)
		_, _, err := s.read(t.Context(), reads("small", 1)...)
		require.NoError(t, err, "the second try has more time")
		require.Equal(t, int64(2), store.requests.Load())
		require.Nil(t, s.r.lastFailure.last.Load(), "it has answered since")
	})
}
