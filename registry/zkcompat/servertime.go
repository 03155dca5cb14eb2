package zkcompat

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// clockNode is created and deleted within one transaction, so that nobody ever sees it.
const clockNode = "__elasticron_clock"

// ServerTime implements [registry.Clock]. It is the leader's clock, in milliseconds, as of one transaction
// that leaves nothing behind, not even the namespace if there is none. Java keeps a node for this,
// systemTime/current, whose every write is an event for every instance.
func (r *Registry) ServerTime(ctx context.Context) (time.Time, error) {
	var now time.Time
	err := r.read(ctx, func(ctx context.Context, l *link) error {
		parent, err := r.nearest(ctx, l)
		if err != nil {
			return err
		}
		path := childOf(parent, clockNode)
		answers, err := ask(ctx, l, func(c *zk.Conn) ([]zk.MultiResponse, error) {
			return c.Multi(
				&zk.CreateRequest{Path: path, Data: []byte{}, Acl: r.acl},
				&zk.SetDataRequest{Path: path, Data: []byte{}},
				&zk.DeleteRequest{Path: path, Version: -1})
		})
		if errors.Is(err, zk.ErrNoNode) { // it was removed; the next try finds another one
			r.parents.forget()
		}
		if err != nil {
			return err
		}
		if len(answers) < 2 || answers[1].Stat == nil {
			return fmt.Errorf("%w: the server's answer shows no time", registry.ErrUnsupported)
		}
		now = time.UnixMilli(answers[1].Stat.Mtime)
		return nil
	})
	return now, remote.OpError("server time", "", err)
}

// nearest returns the znode of the namespace, or the nearest one above it if there is none.
func (r *Registry) nearest(ctx context.Context, l *link) (string, error) {
	for path := r.ns.base; ; path = parentOf(path) {
		if r.parents.has(path) {
			return path, nil
		}
		z, err := r.fetch(ctx, l, path)
		if errors.Is(err, zk.ErrNoAuth) { // whoever may not read it may still create below it
			return path, nil
		}
		if err != nil {
			return "", err
		}
		if z.there {
			r.parents.add(path)
			return path, nil
		}
	}
}
