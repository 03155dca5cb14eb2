package etcd

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/peer"

	"github.com/elasticron/elasticron/registry"
)

// keepAliver sends keep-alives over a stream that it opens again after every failure. One that is sent while another is
// not answered yet gets a stream of its own, and the member that the other one waits for counts as silent: one that is parted
// from the others takes keep-alives and answers none. It is safe for concurrent use.
//
// The client's own KeepAliveOnce would open a stream for each, which where authentication is on
// means a password hash for each, and would repeat without a pause while there is no connection.
type keepAliver struct {
	service pb.LeaseClient
	members *members

	mu      sync.Mutex
	idle    *keepAliveStream           // that nobody uses; nil if the next keep-alive must open one
	waiting map[*keepAliveStream]int64 // those that wait for an answer, and since when by the members' clock
}

// keepAliveStream is one stream of keep-alives, and what ends it.
type keepAliveStream struct {
	cancel context.CancelFunc
	stream pb.Lease_LeaseKeepAliveClient
	member *member // at its other end
}

func newKeepAliver(client *clientv3.Client, members *members) *keepAliver {
	return &keepAliver{
		service: pb.NewLeaseClient(client.ActiveConnection()), members: members, waiting: make(map[*keepAliveStream]int64),
	}
}

// send sends one keep-alive and returns the TTL that the store confirmed. An error that is
// [rpctypes.ErrLeaseNotFound] says that the lease is gone; any other, that there was no answer, and
// [context.DeadlineExceeded] that there was none within the limit.
func (k *keepAliver) send(ctx context.Context, id registry.SessionID, limit time.Duration) (time.Duration, error) {
	ttl, served, err := k.sendOnce(ctx, id, limit)
	if err != nil && served && outdated(err) { // a token of JSON ends after some minutes, and a stream keeps the one that it was opened with
		ttl, _, err = k.sendOnce(ctx, id, limit)
	}
	return ttl, err
}

// sendOnce is send, and tells whether the stream had served before.
func (k *keepAliver) sendOnce(ctx context.Context, id registry.SessionID, limit time.Duration) (_ time.Duration, served bool, err error) {
	s, timeout, served, err := k.stream(ctx, limit)
	var ttl int64
	if err == nil {
		k.waits(s)
		ttl, err = s.exchange(id)
		k.waited(s, err)
	}
	over := !timeout.Stop()
	if over || err != nil || !k.returnStream(s) {
		s.cancel()
	}
	switch {
	case err != nil && over: // the stream says that it was cancelled; whoever tries again must know why
		return 0, served, fmt.Errorf("%w: %w", context.DeadlineExceeded, rpctypes.Error(err))
	case err != nil:
		return 0, served, rpctypes.Error(err)
	case ttl <= 0:
		return 0, served, rpctypes.ErrLeaseNotFound
	default:
		return time.Duration(ttl) * time.Second, served, nil
	}
}

// stream returns one to send on, the timer that ends it when the limit is over, and whether it has served before. A new one is
// not with a silent member, unless each try ends at one: a client that somebody brought along takes its members in turn, and
// its other requests take turns in between.
func (k *keepAliver) stream(ctx context.Context, limit time.Duration) (s *keepAliveStream, timeout *time.Timer, served bool, err error) {
	if s = k.takeStream(); s != nil { //nolint:contextcheck // what a silent member is asked outlives the call
		return s, time.AfterFunc(limit, s.cancel), true, nil
	}
	for left := k.members.count(); ; left-- {
		living, cancel := context.WithCancel(ctx)
		s, timeout = &keepAliveStream{cancel: cancel}, time.AfterFunc(limit, cancel)
		if err = s.open(living, k.service, k.members); err != nil || left <= 1 || !k.members.isSilent(s.member) {
			return s, timeout, false, err
		}
		timeout.Stop()
		s.cancel()
	}
}

// waits notes that a stream waits for an answer.
func (k *keepAliver) waits(s *keepAliveStream) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.waiting[s] = k.members.now()
}

// waited notes how that ended.
func (k *keepAliver) waited(s *keepAliveStream, err error) {
	k.mu.Lock()
	delete(k.waiting, s)
	k.mu.Unlock()
	if err == nil {
		k.members.heard(s.member)
	}
}

// takeStream returns a stream that is open, not in use and not with a silent member, or nil. Who needs another one knows of
// more silent members: those that others wait for.
func (k *keepAliver) takeStream() *keepAliveStream {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.idle
	k.idle = nil
	if s != nil && k.members.isSilent(s.member) {
		s.cancel()
		s = nil
	}
	if s == nil {
		for other, since := range k.waiting {
			k.members.unanswered(other.member, since)
		}
	}
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

func (s *keepAliveStream) open(ctx context.Context, service pb.LeaseClient, known *members) (err error) {
	var chosen atomic.Pointer[member]
	if s.stream, err = service.LeaseKeepAlive(tellChoice(ctx, &chosen)); err != nil {
		return err
	}
	if s.member = chosen.Load(); s.member != nil {
		return nil
	}
	address := ""
	if other, ok := peer.FromContext(s.stream.Context()); ok { //nolint:contextcheck // the stream's tells where it leads
		address = other.Addr.String()
	}
	s.member = known.at(address)
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
