package etcd

import (
	"context"
	"fmt"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/peer"

	"github.com/elasticron/elasticron/registry"
)

// keepAliver sends keep-alives over a stream that it opens again after every failure. One that is sent while another is
// not answered yet gets a stream of its own, with another member if there is one: a member that is parted from the others
// takes keep-alives and answers none. It is safe for concurrent use.
//
// The client's own KeepAliveOnce would open a stream for each, which where authentication is on
// means a password hash for each, and would repeat without a pause while there is no connection.
type keepAliver struct {
	service pb.LeaseClient
	members func() int // how many addresses the client has

	mu      sync.Mutex
	idle    *keepAliveStream // that nobody uses; nil if the next keep-alive must open one
	waiting map[string]int   // keep-alives without an answer yet, by the member's address
}

// keepAliveStream is one stream of keep-alives, and what ends it.
type keepAliveStream struct {
	cancel context.CancelFunc
	stream pb.Lease_LeaseKeepAliveClient
	member string // the address at its other end; empty if it is not known
}

func newKeepAliver(client *clientv3.Client) *keepAliver {
	return &keepAliver{
		service: pb.NewLeaseClient(client.ActiveConnection()),
		members: func() int { return len(client.Endpoints()) },
		waiting: make(map[string]int),
	}
}

// send sends one keep-alive and returns the TTL that the store confirmed. An error that is
// [rpctypes.ErrLeaseNotFound] says that the lease is gone; any other, that there was no answer, and
// [context.DeadlineExceeded] that there was none within the limit.
func (k *keepAliver) send(ctx context.Context, id registry.SessionID, limit time.Duration) (time.Duration, error) {
	s, timeout, err := k.stream(ctx, limit)
	var ttl int64
	if err == nil {
		k.wait(s.member, 1)
		ttl, err = s.exchange(id)
		k.wait(s.member, -1)
	}
	over := !timeout.Stop()
	if over || err != nil || !k.returnStream(s) {
		s.cancel()
	}
	switch {
	case err != nil && over: // the stream says that it was cancelled; whoever tries again must know why
		return 0, fmt.Errorf("%w: %w", context.DeadlineExceeded, rpctypes.Error(err))
	case err != nil:
		return 0, rpctypes.Error(err)
	case ttl <= 0:
		return 0, rpctypes.ErrLeaseNotFound
	default:
		return time.Duration(ttl) * time.Second, nil
	}
}

// stream returns one to send on, and the timer that ends it when the limit is over. A new one is not with a member that
// another keep-alive waits for, unless each try ends there: the client takes its members in turn, and its other requests
// take turns in between.
func (k *keepAliver) stream(ctx context.Context, limit time.Duration) (s *keepAliveStream, timeout *time.Timer, err error) {
	if s = k.takeStream(); s != nil {
		return s, time.AfterFunc(limit, s.cancel), nil
	}
	for left := k.members(); ; left-- {
		living, cancel := context.WithCancel(ctx)
		s, timeout = &keepAliveStream{cancel: cancel}, time.AfterFunc(limit, cancel)
		if err = s.open(living, k.service); err != nil || left <= 1 || !k.waitsFor(s.member) {
			return s, timeout, err
		}
		timeout.Stop()
		s.cancel()
	}
}

// wait counts the keep-alives that wait for a member.
func (k *keepAliver) wait(member string, more int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.waiting[member] += more; k.waiting[member] == 0 {
		delete(k.waiting, member)
	}
}

func (k *keepAliver) waitsFor(member string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.waiting[member] > 0
}

// takeStream returns a stream that is open and not in use, or nil.
func (k *keepAliver) takeStream() *keepAliveStream {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.idle
	k.idle = nil
	return s
}

// returnStream keeps a stream for the next keep-alive. It is false if there is one already.
func (k *keepAliver) returnStream(s *keepAliveStream) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.idle != nil {
		return false
	}
	k.idle = s
	return true
}

func (s *keepAliveStream) open(ctx context.Context, service pb.LeaseClient) (err error) {
	if s.stream, err = service.LeaseKeepAlive(ctx); err != nil {
		return err
	}
	if other, ok := peer.FromContext(s.stream.Context()); ok { //nolint:contextcheck // the stream's tells where it leads
		s.member = other.Addr.String()
	}
	return nil
}

func (s *keepAliveStream) exchange(id registry.SessionID) (ttl int64, err error) {
	if err := s.stream.Send(&pb.LeaseKeepAliveRequest{ID: int64(id)}); err != nil {
		return 0, err
	}
	resp, err := s.stream.Recv()
	if err != nil {
		return 0, err
	}
	return resp.TTL, nil
}
