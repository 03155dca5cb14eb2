package etcd

import (
	"context"

	"github.com/elasticron/elasticron/registry"
)

// View implements [registry.Viewer]: one read of the subtree, and from then on the watch that it
// shares with other views of the handle.
func (r *Registry) View(ctx context.Context, path string) (*registry.View, error) {
	v, err := r.view(ctx, path)
	return v, r.opError("view", path, err)
}

func (r *Registry) view(ctx context.Context, path string) (*registry.View, error) {
	if err := registry.CheckSubtree(path); err != nil {
		return nil, err
	}
	f := newFollower(path)
	if err := r.hub.join(ctx, f); err != nil {
		return nil, err
	}
	first, err := r.snapshot(ctx, path)
	if err != nil {
		r.hub.leave(f)
		return nil, err
	}
	v := f.start(first, r.hub)
	r.hub.whenLeft(f, context.AfterFunc(ctx, func() { f.feed.End(context.Cause(ctx)) }))
	if r.life.Err() != nil { // the hub may have ended its views just before this one was there
		f.feed.End(registry.ErrClosed)
	}
	return v, nil
}

func (r *Registry) snapshot(ctx context.Context, path string) (registry.Snapshot, error) {
	nodes, revision, err := r.list(ctx, path)
	return registry.NewSnapshot(revision, nodes), err
}
