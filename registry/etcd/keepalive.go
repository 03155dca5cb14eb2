package etcd

import (
	"context"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
)

// keepAliver sends keep-alives over a stream that it opens again after every failure. One that is sent while
// another is not answered yet gets a stream of its own, as a rule with another member. It is safe for
// concurrent use.
//
// The client's own KeepAliveOnce would open a stream for each, which where authentication is on
// means a password hash for each, and would repeat without a pause while there is no connection.
type keepAliver struct {
	service pb.LeaseClient

	mu   sync.Mutex
	idle *keepAliveStream // that nobody uses; nil if the next keep-alive must open one
}

// keepAliveStream is one stream of keep-alives and its life.
type keepAliveStream struct {
	ctx    context.Context
	cancel context.CancelFunc
	stream pb.Lease_LeaseKeepAliveClient
}

func newKeepAliver(client *clientv3.Client) *keepAliver {
	return &keepAliver{service: pb.NewLeaseClient(client.ActiveConnection())}
}

// send sends one keep-alive and returns the TTL that the store confirmed. An error that is
// [rpctypes.ErrLeaseNotFound] says that the lease is gone; any other, that there was no answer.
func (k *keepAliver) send(ctx context.Context, id registry.SessionID, limit time.Duration) (time.Duration, error) {
	s := k.takeStream()
	if s == nil {
		s = new(keepAliveStream)
		s.ctx, s.cancel = context.WithCancel(ctx)
	}
	timeout := time.AfterFunc(limit, s.cancel)
	ttl, err := s.exchange(k.service, id)
	if !timeout.Stop() || err != nil || !k.returnStream(s) {
		s.cancel()
	}
	switch {
	case err != nil:
		return 0, rpctypes.Error(err)
	case ttl <= 0:
		return 0, rpctypes.ErrLeaseNotFound
	default:
		return time.Duration(ttl) * time.Second, nil
	}
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

func (s *keepAliveStream) exchange(service pb.LeaseClient, id registry.SessionID) (ttl int64, err error) {
	if s.stream == nil {
		if s.stream, err = service.LeaseKeepAlive(s.ctx); err != nil {
			return 0, err
		}
	}
	if err := s.stream.Send(&pb.LeaseKeepAliveRequest{ID: int64(id)}); err != nil {
		return 0, err
	}
	resp, err := s.stream.Recv()
	if err != nil {
		return 0, err
	}
	return resp.TTL, nil
}
