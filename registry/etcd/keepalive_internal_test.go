package etcd

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/peer"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/etcd/embedded"
)

// leases are members of which some are parted from the others: they take keep-alives and answer none. The next stream is
// with the next of turns, and with the last once they are over.
type leases struct {
	pb.LeaseClient
	parted []int
	mu     sync.Mutex
	turns  []int
}

func (l *leases) LeaseKeepAlive(ctx context.Context, _ ...grpc.CallOption) (pb.Lease_LeaseKeepAliveClient, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	member := l.turns[0]
	if len(l.turns) > 1 {
		l.turns = l.turns[1:]
	}
	address := net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr("10.0.0.1"), uint16(member)))
	return &leaseStream{ctx: peer.NewContext(ctx, &peer.Peer{Addr: address}), parted: slices.Contains(l.parted, member)}, nil
}

type leaseStream struct {
	grpc.ClientStream
	ctx    context.Context
	parted bool
	takes  time.Duration // what an answer takes
}

func (s *leaseStream) Context() context.Context             { return s.ctx }
func (s *leaseStream) Send(*pb.LeaseKeepAliveRequest) error { return s.ctx.Err() }
func (s *leaseStream) Recv() (*pb.LeaseKeepAliveResponse, error) {
	if s.parted {
		<-s.ctx.Done()
	}
	select {
	case <-time.After(s.takes):
	case <-s.ctx.Done():
	}
	return &pb.LeaseKeepAliveResponse{TTL: 3}, s.ctx.Err()
}

// A keep-alive that is sent because another has no answer goes to another member, however the client takes turns. If all
// turns end at one member, it goes there.
func TestAKeepAliveAvoidsMembersThatOthersWaitFor(t *testing.T) {
	for name, test := range map[string]struct {
		turns    []int // of streams
		parted   []int
		answered []bool // of three keep-alives, sent a moment apart
	}{
		"all answer":           {[]int{1}, nil, []bool{true, true, true}},
		"in turn":              {[]int{1, 2, 3}, []int{1}, []bool{false, true, true}},
		"others take turns":    {[]int{1, 1, 1, 2}, []int{1}, []bool{false, true, true}},
		"two are parted":       {[]int{1, 1, 2, 1, 2, 3}, []int{1, 2}, []bool{false, false, true}},
		"each turn is the one": {[]int{1}, []int{1}, []bool{false, false, false}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &keepAliver{service: &leases{turns: test.turns, parted: test.parted}, members: newMembers(func() int { return 3 }, Config{}), waiting: make(map[*keepAliveStream]int64)}
				answered := make([]bool, len(test.answered))
				var sent sync.WaitGroup
				for i := range answered {
					sent.Go(func() {
						_, err := k.send(t.Context(), 7, time.Second)
						answered[i] = err == nil
					})
					time.Sleep(100 * time.Millisecond)
				}
				sent.Wait()
				require.Equal(t, test.answered, answered)
				require.Empty(t, k.waiting)
				if k.idle != nil {
					k.idle.cancel()
				}
			})
		})
	}
}

// slowLeases is a member that answers late.
type slowLeases struct {
	pb.LeaseClient
	takes time.Duration
}

func (l slowLeases) LeaseKeepAlive(ctx context.Context, _ ...grpc.CallOption) (pb.Lease_LeaseKeepAliveClient, error) {
	return &leaseStream{ctx: ctx, takes: l.takes}, nil
}

// A keep-alive that is tried anew because the store is slow gets more time, as when the lease of a lost session is taken up
// again; one that was broken off, or failed, does not.
func TestAKeepAliveThatTookTooLongGetsMoreTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := &keepAliver{service: slowLeases{takes: 300 * time.Millisecond}, members: newMembers(func() int { return 1 }, Config{}), waiting: make(map[*keepAliveStream]int64)}
		retry := retryPolicy{timeout: 100 * time.Millisecond}
		try := func(ctx context.Context) error {
			_, err := k.send(ctx, 7, retry.tryTimeout())
			if err != nil {
				retry.noteFailure(err)
			}
			return err
		}
		ended, end := context.WithCancel(t.Context())
		end()
		require.ErrorIs(t, try(ended), context.Canceled)
		require.Equal(t, 100*time.Millisecond, retry.tryTimeout())
		for _, next := range []time.Duration{200 * time.Millisecond, 400 * time.Millisecond} {
			require.ErrorIs(t, try(t.Context()), context.DeadlineExceeded)
			require.Equal(t, next, retry.tryTimeout())
		}
		require.NoError(t, try(t.Context()))
		k.idle.cancel()
	})
}

// It is known which member a stream is with before anything has come from there: our own client's balancer chooses it, and
// another client says it.
func TestAKeepAliveKnowsItsMember(t *testing.T) {
	server, err := embedded.Start(t.Context(), embedded.WithFastTest())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	config, err := Config{Endpoints: server.Endpoints(), Namespace: "n", DialTimeout: time.Minute}.withDefaults()
	require.NoError(t, err)
	known := newMembers(func() int { return 1 }, config)
	own, err := newClient(t.Context(), config, known)
	require.NoError(t, err)
	brought, err := clientv3.New(clientv3.Config{Endpoints: server.Endpoints()})
	require.NoError(t, err)
	for name, client := range map[string]*clientv3.Client{"own": own, "brought along": brought} {
		t.Run(name, func(t *testing.T) {
			t.Cleanup(func() { require.NoError(t, client.Close()) })
			lease, err := client.Grant(t.Context(), 60)
			require.NoError(t, err)
			k := newKeepAliver(client, known)
			ttl, err := k.send(t.Context(), registry.SessionID(lease.ID), time.Minute)
			require.NoError(t, err)
			require.Equal(t, time.Minute, ttl)
			require.Contains(t, server.Endpoints()[0], k.idle.member.address)
			require.NotEmpty(t, k.idle.member.address)
			require.NotZero(t, k.idle.member.answered.Load())
			k.idle.cancel()
		})
	}
}
