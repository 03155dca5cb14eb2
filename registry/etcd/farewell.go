package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
)

// close ends the session for this process, and returns its lease if the store may still hold it.
func (k *keeper) close() clientv3.LeaseID {
	k.mu.Lock()
	k.closed = true
	control := k.control
	k.mu.Unlock()
	if control != nil {
		control.Lose(registry.ErrClosed)
	}
	k.wg.Wait()
	if k.session == nil || errors.Is(k.session.Err(), errRevoked) {
		return clientv3.NoLease
	}
	if k.control != control { // a session came up in the meantime
		k.control.Lose(registry.ErrClosed)
	}
	return clientv3.LeaseID(k.session.ID())
}

// revoke tells the store that the session is over.
func (r *Registry) revoke(ctx context.Context, lease clientv3.LeaseID) error {
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
				registry.SessionID(lease), givenUp(ctx, registry.ErrUnavailable, err))
		}
	}
}
