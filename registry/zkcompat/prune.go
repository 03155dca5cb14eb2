package zkcompat

import (
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
)

// prune makes a deletion of trees smaller that is too large for one request. It deletes parents that have had children and have
// none any more, which is no change for anybody: they are no nodes. It does so by as many requests as it takes, of which each
// holds only if the conditions of the transaction still do: a Java leader relies on the parents of a job that goes on. If it
// ends halfway, fewer of them are left. It is false if there are none.
func (s *survey) prune(ctx context.Context, l *link) (bool, error) {
	bare := s.bareParents()
	for rest := bare; len(rest) > 0; {
		p := newPlan(s)
		for _, c := range s.txn.If {
			p.prove(s.r.ns.znode(c.Path))
		}
		for len(rest) > 0 && p.size < mostBytes {
			p.delete(rest[0], 0)
			rest = rest[1:]
		}
		if _, err := ask(ctx, l, func(c *zk.Conn) ([]zk.MultiResponse, error) { return c.Multi(p.ops...) }); err != nil {
			return true, err
		}
	}
	return len(bare) > 0, nil
}

// bareParents returns the parents below the roots of deletions, children first, at and below which there is no node, and on
// which no condition or other write of the transaction bears.
func (s *survey) bareParents() []string {
	var bare []string
	kept := make(map[string]bool)
	keep := func(path string) {
		for ; !kept[path] && path != registry.Root; path = parentOf(path) {
			kept[path] = true
		}
	}
	for _, c := range s.txn.If {
		keep(s.r.ns.znode(c.Path))
	}
	for _, w := range s.txn.Then {
		keep(s.r.ns.znode(w.Path))
	}
	for _, tree := range s.trees {
		for _, path := range slices.Backward(sortedKeys(tree)) {
			if z := tree[path]; kept[path] || z.data != "" || z.stat.Version != 0 || z.node(path).Exists() {
				keep(path)
				continue
			}
			bare = append(bare, path)
		}
	}
	return bare
}

// isOvertaken tells that a multi was not done because somebody else did something.
func isOvertaken(err error) bool {
	for _, e := range []error{zk.ErrNoNode, zk.ErrBadVersion, zk.ErrNodeExists, zk.ErrNotEmpty, zk.ErrNoChildrenForEphemerals} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
