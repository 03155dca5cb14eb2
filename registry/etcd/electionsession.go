package etcd

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"

	"github.com/elasticron/elasticron/registry"
)

// electionSession is where the candidates of one session stand: etcd's own session over our lease.
type electionSession struct {
	r       *Registry
	session *registry.Session
	etcd    *concurrency.Session
	over    context.Context // ends with the session
}

func newElectionSession(l *latches, session *registry.Session) (*electionSession, error) {
	over, end := context.WithCancel(context.Background())
	l.wg.Go(func() {
		<-session.Done()
		end()
	})
	client := clientv3.NewCtxClient(over)
	client.KV = retryingKV{l.r.client.KV, l.r, func(key string) { l.sweeper.noteUncertain(session.ID(), key) }}
	client.Watcher = l.r.client.Watcher
	client.Lease = sharedLease{}
	etcd, err := concurrency.NewSession(client, concurrency.WithLease(clientv3.LeaseID(session.ID())))
	if err != nil {
		return nil, fmt.Errorf("session for latches: %w", err)
	}
	return &electionSession{r: l.r, session: session, etcd: etcd, over: over}, nil
}

// sharedLease stands in for etcd's keep-alive of a lease that the session keeper keeps alive: one
// keep-alive is enough, and nobody but the session keeper may revoke it.
type sharedLease struct{ clientv3.Lease }

// KeepAlive returns a channel that brings nothing and is closed when ctx ends.
func (sharedLease) KeepAlive(ctx context.Context, _ clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	silent := make(chan *clientv3.LeaseKeepAliveResponse)
	context.AfterFunc(ctx, func() { close(silent) })
	return silent, nil
}

var errSharedLease = errors.New("the lease belongs to the registry's session")

// Revoke refuses.
func (sharedLease) Revoke(context.Context, clientv3.LeaseID) (*clientv3.LeaseRevokeResponse, error) {
	return nil, errSharedLease
}
