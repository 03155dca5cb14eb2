package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
)

// close ends the session for this process, and returns those of which the store may still hold the lease.
func (k *keeper) close() []*registry.Session {
	k.mu.Lock()
	k.closed = true
	control := k.control
	k.mu.Unlock()
	if control != nil {
		control.Lose(registry.ErrClosed)
	}
	k.wg.Wait()
	var held []*registry.Session
	if k.givenUp != nil && k.givenUp != k.session {
		held = append(held, k.givenUp)
	}
	if k.session == nil || errors.Is(k.session.Err(), errRevoked) {
		return held
	}
	if k.control != control { // a session came up in the meantime
		k.control.Lose(registry.ErrClosed)
	}
	return append(held, k.session)
}

// revoke tells the store that the session is over. It gives up when the store would know that by itself.
func (r *Registry) revoke(ctx context.Context, session *registry.Session) error {
	ctx, cancel := context.WithTimeout(ctx, session.FarewellTime())
	defer cancel()
	lease := clientv3.LeaseID(session.ID())
	patience := r.config.patience()
	for {
		err := within(ctx, patience.limit(), func(ctx context.Context) error {
			_, err := r.client.Revoke(ctx, lease)
			return err
		})
		if err == nil || errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return nil
		}
		patience.note(err)
		if !sleep(ctx, patience.pause()) {
			return fmt.Errorf("the nodes of session %s stay until its TTL has passed: %w",
				session.ID(), givenUp(ctx, registry.ErrUnavailable, err))
		}
	}
}
