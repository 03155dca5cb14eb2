package memory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// Get implements [registry.Reader].
func (r *Registry) Get(ctx context.Context, path string) (registry.Node, error) {
	if err := registry.CheckPath(path); err != nil {
		return registry.Node{}, &registry.OpError{Op: registry.OpGet, Path: path, Err: err}
	}
	var n registry.Node
	err := r.readTree(ctx, registry.OpGet, path, func() { n = r.server.get(r.prefix, path) })
	if err == nil && !n.Exists() {
		err = &registry.OpError{Op: registry.OpGet, Path: path, Err: registry.ErrNotFound}
	}
	if err != nil {
		return registry.Node{}, err
	}
	return n, nil
}

// List implements [registry.Reader]. It is one consistent state.
func (r *Registry) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	return r.list(ctx, registry.OpList, path)
}

// Children implements [registry.Reader].
func (r *Registry) Children(ctx context.Context, path string) ([]string, error) {
	nodes, _, err := r.list(ctx, registry.OpChildren, path)
	if err != nil {
		return nil, err
	}
	names := make(map[string]struct{})
	for _, n := range nodes {
		below := strings.TrimPrefix(strings.TrimPrefix(n.Path, strings.TrimSuffix(path, "/")), "/")
		if name, _, _ := strings.Cut(below, "/"); name != "" {
			names[name] = struct{}{}
		}
	}
	return slices.Sorted(maps.Keys(names)), nil
}

func (r *Registry) list(ctx context.Context, op, path string) ([]registry.Node, registry.Revision, error) {
	if err := backend.CheckSubtree(path); err != nil {
		return nil, 0, &registry.OpError{Op: op, Path: path, Err: err}
	}
	var nodes []registry.Node
	var revision registry.Revision
	err := r.readTree(ctx, op, path, func() { nodes, revision = r.server.list(r.prefix, path) })
	if err != nil {
		return nil, 0, err
	}
	return nodes, revision, nil
}

func (r *Registry) readTree(ctx context.Context, op, path string, serve func()) error {
	if err := r.deniedRead(path); err != nil {
		return &registry.OpError{Op: op, Path: path, Err: err}
	}
	return r.read(ctx, op, path, &r.stats.reads, &r.server.stats.reads, serve)
}

// read makes one request that changes nothing.
func (r *Registry) read(ctx context.Context, op, path string, mine, all *atomic.Int64, serve func()) error {
	ctx, cancel := r.bind(ctx)
	defer cancel()
	err := r.link.await(ctx)
	if err == nil {
		mine.Add(1)
		all.Add(1)
		err = r.link.carry(ctx, op+path, serve)
	}
	if err != nil {
		return &registry.OpError{Op: op, Path: path, Err: unavailable(err)}
	}
	return nil
}
