package etcd

import (
	"context"
	"errors"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// Get implements [registry.Reader] with a linearizable read, which it may share with others of the same moment.
func (r *Registry) Get(ctx context.Context, path string) (registry.Node, error) {
	node, err := r.get(ctx, path)
	return node, r.opError(registry.OpGet, path, err)
}

func (r *Registry) get(ctx context.Context, path string) (registry.Node, error) {
	if err := registry.CheckPath(path); err != nil {
		return registry.Node{}, err
	}
	parts, _, err := r.gets.read(ctx, clientv3.OpGet(r.ns.key(path)))
	if err != nil {
		return registry.Node{}, err
	}
	nodes := r.ns.nodes(parts[0])
	if len(nodes) == 0 {
		return registry.Node{}, registry.ErrNotFound
	}
	return nodes[0], nil
}

// List implements [registry.Reader]: one consistent state, in a linearizable read, which it may share with others of the
// same moment.
func (r *Registry) List(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	nodes, revision, err := r.list(ctx, path)
	return nodes, revision, r.opError(registry.OpList, path, err)
}

func (r *Registry) list(ctx context.Context, path string) ([]registry.Node, registry.Revision, error) {
	if err := backend.CheckSubtree(path); err != nil {
		return nil, 0, err
	}
	parts, revision, err := r.lists.read(ctx, r.reads(path)...)
	if err != nil {
		return nil, 0, err
	}
	nodes := []registry.Node{}
	for _, part := range parts {
		nodes = append(nodes, r.ns.nodes(part)...)
	}
	return nodes, registry.Revision(revision), nil
}

// reads returns what reads the node at path and then those below it. A single range could not: the
// neighbours "/job-1" and "/job.1" lie between "/job" and "/job/x".
func (r *Registry) reads(path string) []clientv3.Op {
	start, end := r.ns.below(path)
	below := clientv3.OpGet(start, clientv3.WithRange(end))
	if path == registry.Root {
		return []clientv3.Op{below}
	}
	return []clientv3.Op{clientv3.OpGet(r.ns.key(path)), below}
}

// Children implements [registry.Reader]. etcd knows no children, so this reads the keys, without the
// values, of the whole subtree.
func (r *Registry) Children(ctx context.Context, path string) ([]string, error) {
	names, err := r.children(ctx, path)
	return names, r.opError(registry.OpChildren, path, err)
}

func (r *Registry) children(ctx context.Context, path string) ([]string, error) {
	if err := backend.CheckSubtree(path); err != nil {
		return nil, err
	}
	start, end := r.ns.below(path)
	resp, err := r.do(ctx, clientv3.OpGet(start, clientv3.WithRange(end), clientv3.WithKeysOnly()))
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, node := range r.ns.nodes(resp.Get().Kvs) {
		name, _, _ := strings.Cut(r.ns.key(node.Path)[len(start):], "/")
		names = append(names, name)
	}
	// The children of "a" and those of "a-b" may stand between each other in the order of keys.
	slices.Sort(names)
	return slices.Compact(names), nil
}

// revision returns the revision of the store, by a linearizable read of next to nothing.
func (r *Registry) revision(ctx context.Context) (int64, error) {
	start, end := r.ns.below(registry.Root)
	_, revision, err := r.gets.read(ctx, clientv3.OpGet(start, clientv3.WithRange(end), clientv3.WithLimit(1), clientv3.WithKeysOnly()))
	return revision, err
}

// do carries out an operation that may be done twice, as one that only reads.
func (r *Registry) do(ctx context.Context, op clientv3.Op) (clientv3.OpResponse, error) {
	return r.doNoting(ctx, op, func() {})
}

// doNoting is do that tells of every try that may have been carried out although nothing says so: one without an answer, and
// one that used the store's quota up, which etcd carries out and refuses.
func (r *Registry) doNoting(ctx context.Context, op clientv3.Op, uncertain func()) (clientv3.OpResponse, error) {
	var answer clientv3.OpResponse
	var seen int64
	err := r.repeat(ctx, func(ctx context.Context) (err error) {
		seen = r.seen.Load()
		answer, err = r.client.Do(ctx, op)
		if refused := refusal(err); err != nil && (refused == nil || errors.Is(refused, registry.ErrNoSpace)) {
			uncertain()
		}
		return err
	})
	if err != nil {
		return answer, err
	}
	if op.IsGet() {
		r.seeSince(seen, answer.Get().Header.Revision)
	} else {
		r.seeSince(seen, answer.Txn().Header.Revision)
	}
	return answer, nil
}
