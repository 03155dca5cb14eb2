package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/internal/logqueue"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// Close implements [registry.Registry]. Work stops first: the session is lost to this process, views
// and latches end. Then the lease is revoked, so that others see the process's nodes vanish at once,
// and the connections are closed. A store that does not answer is told so until it would have ended the
// lease by itself.
func (r *Registry) Close(ctx context.Context) error {
	r.closing.Do(func() { r.closeErr = remote.OpError(registry.OpClose, "", r.close(ctx, true)) })
	return r.closeErr
}

// Vanish ends the handle as a crash of the process would: nothing is said to the store, and the
// nodes of the session stay until its TTL has passed. It is for tests of exactly that, and for a
// process that must get out of the way without waiting for the store. Close afterwards does nothing.
func (r *Registry) Vanish() {
	r.closing.Do(func() { r.closeErr = remote.OpError(registry.OpClose, "", r.close(context.Background(), false)) })
}

func (r *Registry) close(ctx context.Context, revokeLease bool) error {
	r.endLife(registry.ErrClosed)
	held := r.keeper.close()
	r.hub.close()
	r.gets.close()
	r.lists.close()
	r.latches.close()
	r.queue.close()
	r.members.close()
	r.repeats.Close()
	defer r.lines.Flush(logqueue.LastLines)
	r.closeWatches()
	var err error
	if revokeLease {
		for _, session := range held {
			err = errors.Join(err, r.revoke(ctx, session))
		}
	}
	if r.ownClient {
		err = errors.Join(err, ignoreCanceled(r.client.Close()))
	}
	return err
}

// closeLimit is how long the end of all watches may take.
const closeLimit = 2 * time.Second

// closeWatches ends all watches. etcd's client waits for ever for a stream that was given up in the instant in which the store
// refused a watch on it: two goroutines of that stream wait for each other, and hold nothing else.
func (r *Registry) closeWatches() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = r.watcher.Close() // says at most that a stream had just broken
	}()
	select {
	case <-closed:
	case <-time.After(closeLimit):
		r.log.Warn("the watches of etcd's client did not end, it is closed without that", "after", closeLimit.String())
	}
}

// close ends the session for this process, and returns those whose lease the store may still hold.
func (k *sessionKeeper) close() []*registry.Session {
	k.mu.Lock()
	k.closed = true
	control := k.control
	k.mu.Unlock()
	if control != nil {
		control.Lose(registry.ErrClosed)
	}
	k.wg.Wait()
	var held []*registry.Session
	if k.abandoned != nil && k.abandoned != k.session {
		held = append(held, k.abandoned)
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
	ctx, cancel := context.WithTimeout(ctx, backend.CloseTime(session))
	defer cancel()
	lease := clientv3.LeaseID(session.ID())
	retry := r.config.retryPolicy()
	for {
		err := within(ctx, retry.tryTimeout(), func(ctx context.Context) error {
			_, err := r.client.Revoke(ctx, lease)
			return err
		})
		if err == nil || errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return nil
		}
		retry.noteFailure(err)
		if !remote.Sleep(ctx, retry.backoff()) {
			return fmt.Errorf("the nodes of session %s stay until its TTL has passed: %w",
				session.ID(), remote.GivenUp(ctx, registry.ErrUnavailable, err))
		}
	}
}
