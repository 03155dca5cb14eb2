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

// clockNode is created and deleted within one transaction, so that nobody ever sees it; but for where there is no namespace.
const clockNode = "__elasticron_clock"

// ServerTime implements [registry.Clock]. It is the leader's clock, in milliseconds, as of one transaction
// that leaves nothing behind, not even the namespace if there is none. Java keeps a node for this,
// systemTime/current, whose every write is an event for every instance.
func (r *Registry) ServerTime(ctx context.Context) (time.Time, error) {
	var now time.Time
	var denied error
	err := r.untilAnswered(ctx, func(ctx context.Context, l *link) error {
		if err := l.sync(ctx); err != nil { // it may lag, and not know the namespace
			return err
		}
		parent, err := r.nearest(ctx, l)
		if err != nil {
			return err
		}
		stat, err := r.touch(ctx, l, parent)
		switch {
		case errors.Is(err, zk.ErrNoNode): // it was removed; the next try finds another one
			r.parents.forget()
		case errors.Is(err, zk.ErrNoAuth):
			what := "create and delete one"
			if parent != r.ns.base {
				what = "create one"
			}
			denied = fmt.Errorf("%w: the server's time is that of a znode that is made, and %s may not %s in %q: %w", registry.ErrDenied, r.who(), what, parent, err)
		}
		if err != nil {
			return err
		}
		if stat == nil {
			return fmt.Errorf("%w: the server's answer shows no time", registry.ErrUnsupported)
		}
		now = time.UnixMilli(stat.Mtime)
		return nil
	})
	if errors.Is(err, registry.ErrDenied) && denied != nil {
		err = denied
	}
	return now, remote.OpError(registry.OpServerTime, "", err)
}

// touch has the server write a znode below another one, of which it tells when that was. Where there is no namespace,
// whoever may create it need not have the right to delete anything above it. Then the znode stays until the session ends.
func (r *Registry) touch(ctx context.Context, l *link, parent string) (*zk.Stat, error) {
	path := childOf(parent, clockNode)
	answers, err := ask(ctx, l, func(c *zk.Conn) ([]zk.MultiResponse, error) {
		return c.Multi(
			&zk.CreateRequest{Path: path, Data: []byte{}, Acl: r.acl},
			&zk.SetDataRequest{Path: path, Data: []byte{}},
			&zk.DeleteRequest{Path: path, Version: -1})
	})
	switch {
	case err == nil && len(answers) > 1:
		return answers[1].Stat, nil
	case !errors.Is(err, zk.ErrNoAuth) || parent == r.ns.base:
		return nil, err
	}
	return ask(ctx, l, func(c *zk.Conn) (*zk.Stat, error) {
		own := fmt.Sprintf("%s_%x", path, c.SessionID())
		stat, err := c.Set(own, []byte{}, -1)
		if !errors.Is(err, zk.ErrNoNode) {
			return stat, err
		}
		if _, err := c.Create(own, []byte{}, zk.FlagEphemeral, r.acl); err != nil && !errors.Is(err, zk.ErrNodeExists) {
			return nil, err
		}
		return c.Set(own, []byte{}, -1)
	})
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
