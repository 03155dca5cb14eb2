package zkcompat

import (
	"context"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
)

// survey is what a commit knows of the znodes that its transaction concerns: each was so at some moment
// since it began. The multi that is made of it holds only if all of them still are.
type survey struct {
	r     *Registry
	txn   registry.Txn
	found map[string]znode
	trees map[string]map[string]znode // what stands at and below each root of a deletion
	fresh bool                        // nothing was taken from a view, and the server knew all that was committed before
}

// look makes a survey. Unless a fresh one is asked for, what views show is taken from them.
func (r *Registry) look(ctx context.Context, l *link, txn registry.Txn, fresh bool) (*survey, error) {
	s := &survey{r: r, txn: txn, found: make(map[string]znode), trees: make(map[string]map[string]znode), fresh: fresh}
	if fresh {
		if err := l.ballot(ctx); err != nil {
			return nil, err
		}
	}
	var wanted []string
	for _, c := range txn.If {
		wanted = append(wanted, r.ns.znode(c.Path))
	}
	for _, w := range txn.Then {
		path := r.ns.znode(w.Path)
		if w.Kind != registry.WriteDeleteTree {
			wanted = append(wanted, path)
			continue
		}
		tree, err := walk(ctx, l, path)
		if err != nil {
			return nil, err
		}
		s.trees[path] = tree
		s.found[path] = tree[path]
	}
	if err := s.read(ctx, l, wanted); err != nil {
		return nil, err
	}
	return s, s.readAncestors(ctx, l)
}

// glance makes a survey of what views show alone. It is false if they do not show all that the transaction concerns.
func (r *Registry) glance(l *link, epoch int, txn registry.Txn) (*survey, bool) {
	s := &survey{r: r, txn: txn, found: make(map[string]znode, len(txn.If)+len(txn.Then))}
	for _, w := range txn.Then {
		if w.Kind == registry.WriteDeleteTree {
			return nil, false
		}
	}
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	for _, c := range txn.If {
		if !s.glance(l, epoch, r.ns.znode(c.Path)) {
			return nil, false
		}
	}
	for _, w := range txn.Then {
		if !s.glance(l, epoch, r.ns.znode(w.Path)) {
			return nil, false
		}
	}
	return s, s.glanceAncestors(l, epoch)
}

// glance takes a znode from the hub's copies, whose lock the caller holds.
func (s *survey) glance(l *link, epoch int, path string) bool {
	if _, known := s.found[path]; known {
		return true
	}
	z, shown := s.r.hub.copied(l, epoch, path)
	if shown {
		s.found[path] = z
	}
	return shown
}

// glanceAncestors is [survey.readAncestors] without reading.
func (s *survey) glanceAncestors(l *link, epoch int) bool {
	var absent []string
	for path, z := range s.found {
		if !z.there {
			absent = append(absent, path)
		}
	}
	for _, path := range absent {
		for parent := parentOf(path); !s.r.parents.has(parent); parent = parentOf(parent) {
			if !s.glance(l, epoch, parent) {
				return false
			}
			if z := s.found[parent]; z.there {
				if z.owner() == 0 {
					s.r.parents.add(parent)
				}
				break
			}
		}
	}
	return true
}

// read reads znodes that are not yet in the survey.
func (s *survey) read(ctx context.Context, l *link, paths []string) error {
	var missing []string
	for _, path := range paths {
		if _, ok := s.found[path]; ok {
			continue
		}
		if z, ok := s.r.hub.shows(l, path); ok && !s.fresh {
			s.found[path] = z
			continue
		}
		s.found[path] = znode{}
		missing = append(missing, path)
	}
	if len(missing) == 0 {
		return nil
	}
	read, err := ask(ctx, l, func(c *zk.Conn) ([]znode, error) {
		read := make([]znode, len(missing))
		err := each(ctx, len(missing), func(i int) (err error) {
			read[i], err = get(c, missing[i])
			return err
		})
		return read, err
	})
	if err != nil {
		return err
	}
	for i, path := range missing {
		s.found[path] = read[i]
	}
	return nil
}

// readAncestors looks, of every absent znode, for the nearest ancestor that is there.
func (s *survey) readAncestors(ctx context.Context, l *link) error {
	for {
		var next []string
		for path, z := range s.found {
			if z.there {
				continue
			}
			for parent := parentOf(path); ; parent = parentOf(parent) {
				if known, ok := s.found[parent]; ok && !known.there {
					continue
				} else if !ok && !s.r.parents.has(parent) {
					next = append(next, parent)
				}
				break
			}
		}
		if len(next) == 0 {
			break
		}
		if err := s.read(ctx, l, next); err != nil {
			return err
		}
	}
	for path, z := range s.found {
		if z.there && z.owner() == 0 {
			s.r.parents.add(path)
		}
	}
	return nil
}

// there tells whether a znode is known to be there, and whether it can have children.
func (s *survey) parent(path string) (there, fertile bool) {
	if z, ok := s.found[path]; ok {
		return z.there, z.owner() == 0
	}
	return s.r.parents.has(path), true
}

// topmost returns the highest ancestor of an absent znode, or itself, that is absent too.
func (s *survey) topmost(path string) string {
	for path != "/" {
		parent := parentOf(path)
		if there, _ := s.parent(parent); there {
			break
		}
		path = parent
	}
	return path
}

// node returns the node at a path of the registry.
func (s *survey) node(path string) registry.Node { return s.found[s.r.ns.znode(path)].node(path) }

// refusal tells why the transaction cannot be done: a condition does not hold, or a plain put meets an
// ephemeral node.
func (s *survey) refusal(at registry.Revision) error {
	for _, c := range s.txn.Guards() {
		if n := s.node(c.Path); !c.Holds(n) {
			return &registry.ConflictError{Condition: c, Found: n, Revision: at}
		}
	}
	for _, w := range s.txn.Then {
		if w.Kind == registry.WritePut && s.node(w.Path).Ephemeral() {
			return registry.ErrOwned
		}
	}
	return nil
}

// nodes returns all nodes that were found.
func (s *survey) nodes() []registry.Node {
	all := make(map[string]znode, len(s.found))
	for path, z := range s.found {
		if within(path, s.r.ns.base) {
			all[path] = z
		}
	}
	for _, tree := range s.trees {
		for path, z := range tree {
			all[path] = z
		}
	}
	return nodesOf(s.r.ns, all)
}

// untouched tells whether some write of the transaction left no trace after a transaction of the past,
// so that it was surely not done since: no znode that it would have changed, nor the parent of one that
// it would have created, has changed.
func (s *survey) untouched(since registry.Revision) bool {
	for _, w := range s.txn.Then {
		path := s.r.ns.znode(w.Path)
		switch z := s.found[path]; {
		case w.Kind == registry.WriteDelete || w.Kind == registry.WriteDeleteTree:
		case z.there && registry.Revision(z.stat.Mzxid) <= since:
			return true
		case !z.there:
			parent, ok := s.found[parentOf(s.topmost(path))]
			if ok && parent.there && registry.Revision(parent.stat.Pzxid) <= since {
				return true
			}
		}
	}
	return false
}
