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

// pulse sends keep-alives over a stream that it opens again after every failure. One that is sent while
// another is not answered yet gets a stream of its own, as a rule with another member. It is safe for
// concurrent use.
//
// The client's own KeepAliveOnce would open a stream for each, which where authentication is on
// means a password hash for each, and would repeat without a pause while there is no connection.
type pulse struct {
	service pb.LeaseClient

	mu   sync.Mutex
	open *line // that nobody uses; nil if the next keep-alive must open one
}

// line is one stream of keep-alives and its life.
type line struct {
	ctx    context.Context
	hangUp context.CancelFunc
	stream pb.Lease_LeaseKeepAliveClient
}

func newPulse(client *clientv3.Client) *pulse {
	return &pulse{service: pb.NewLeaseClient(client.ActiveConnection())}
}

// beat sends one keep-alive and returns the TTL that the store confirmed. An error that is
// [rpctypes.ErrLeaseNotFound] says that the lease is gone; any other, that there was no answer.
func (p *pulse) beat(ctx context.Context, id registry.SessionID, limit time.Duration) (time.Duration, error) {
	l := p.take()
	if l == nil {
		l = new(line)
		l.ctx, l.hangUp = context.WithCancel(ctx)
	}
	impatience := time.AfterFunc(limit, l.hangUp)
	ttl, err := l.exchange(p.service, id)
	if !impatience.Stop() || err != nil || !p.keep(l) {
		l.hangUp()
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

// take returns a stream that is open and not in use, or nil.
func (p *pulse) take() *line {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.open
	p.open = nil
	return l
}

// keep keeps a stream for the next keep-alive. It is false if there is one already.
func (p *pulse) keep(l *line) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open != nil {
		return false
	}
	p.open = l
	return true
}

func (l *line) exchange(service pb.LeaseClient, id registry.SessionID) (ttl int64, err error) {
	if l.stream == nil {
		if l.stream, err = service.LeaseKeepAlive(l.ctx); err != nil {
			return 0, err
		}
	}
	if err := l.stream.Send(&pb.LeaseKeepAliveRequest{ID: int64(id)}); err != nil {
		return 0, err
	}
	resp, err := l.stream.Recv()
	if err != nil {
		return 0, err
	}
	return resp.TTL, nil
}
