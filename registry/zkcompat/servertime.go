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

// ServerTime implements [registry.Clock]. It is the leader's clock, in milliseconds, as of one
// transaction that leaves nothing behind. Java keeps a node for this, systemTime/current, whose every
// write is an event for every instance.
func (r *Registry) ServerTime(ctx context.Context) (time.Time, error) {
	var now time.Time
	err := r.read(ctx, func(ctx context.Context, l *link) error {
		path := childOf(r.ns.base, clockNode)
		answers, err := ask(ctx, l, func(c *zk.Conn) ([]zk.MultiResponse, error) {
			return c.Multi(
				&zk.CreateRequest{Path: path, Data: []byte{}, Acl: r.acl},
				&zk.SetDataRequest{Path: path, Data: []byte{}},
				&zk.DeleteRequest{Path: path, Version: -1})
		})
		if errors.Is(err, zk.ErrNoNode) { // the namespace's own node was removed; the next try finds it
			r.parents.forget()
			if made := r.makeParents(ctx, l, path); made != nil {
				return made
			}
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
