package registry

import (
	"iter"
	"slices"
	"strings"

	"github.com/tidwall/btree"
)

// Snapshot is one state of a subtree. It never changes, costs nothing to keep or copy, and may be
// read concurrently. The zero Snapshot is an empty tree at revision 0.
type Snapshot struct {
	revision Revision
	// The nodes are in one of the two: few of them in ascending order of their paths, as there may be thousands of jobs
	// with a few nodes each, and many in a tree, which states that follow each other share.
	few   *[]Node // nil if there are none
	nodes *btree.Map[string, Node]
}

// mostFew is how many nodes a snapshot copies for the next state. A leaf of the tree, which is copied as a whole, may
// have as many.
const mostFew = 48

// NewSnapshot makes a snapshot of nodes, which may come in any order.
func NewSnapshot(revision Revision, nodes []Node) Snapshot {
	if len(nodes) <= mostFew {
		return Snapshot{revision: revision, few: few(nodes)}
	}
	return Snapshot{revision: revision, nodes: many(nodes)}
}

// few puts nodes in order. Of several at a path the last one counts.
func few(nodes []Node) *[]Node {
	if len(nodes) == 0 {
		return nil
	}
	ordered := slices.Clone(nodes)
	slices.SortStableFunc(ordered, compareNodes)
	kept := ordered[:0]
	for i, n := range ordered {
		if i+1 == len(ordered) || ordered[i+1].Path != n.Path {
			kept = append(kept, n)
		}
	}
	return &kept
}

func compareNodes(a, b Node) int { return strings.Compare(a.Path, b.Path) }

func many(nodes []Node) *btree.Map[string, Node] {
	tree := new(btree.Map[string, Node])
	for _, n := range nodes {
		tree.Set(n.Path, n)
	}
	return tree
}

// Revision returns a revision at which this state was true.
func (s Snapshot) Revision() Revision { return s.revision }

// Len returns the number of nodes.
func (s Snapshot) Len() int {
	if s.nodes == nil {
		return len(s.list())
	}
	return s.nodes.Len()
}

// Get returns the node at path; the zero Node if it is absent.
func (s Snapshot) Get(path string) Node {
	if s.nodes == nil {
		if at, found := s.at(path); found {
			return s.list()[at]
		}
		return Node{}
	}
	n, _ := s.nodes.Get(path)
	return n
}

// list returns the nodes while they are few.
func (s Snapshot) list() []Node {
	if s.few == nil {
		return nil
	}
	return *s.few
}

// at returns where in few a path is, or would be.
func (s Snapshot) at(path string) (at int, found bool) {
	return slices.BinarySearchFunc(s.list(), path, func(n Node, path string) int { return strings.Compare(n.Path, path) })
}

// Since returns how this state differs from an earlier one of the same subtree, in ascending order of
// paths. It is for who takes up with another [View] what an ended one left off.
func (s Snapshot) Since(earlier Snapshot) []Change { return difference(earlier, s) }

// All yields every node in ascending order of paths.
func (s Snapshot) All() iter.Seq[Node] { return s.from("", func(string) bool { return true }) }

// Below yields the node at path, if there is one, and then those below it in ascending order.
func (s Snapshot) Below(path string) iter.Seq[Node] {
	if path == Root {
		return s.All()
	}
	return func(yield func(Node) bool) {
		if n := s.Get(path); n.Exists() && !yield(n) {
			return
		}
		inside := func(p string) bool { return strings.HasPrefix(p, path+"/") }
		for n := range s.from(path+"/", inside) {
			if !yield(n) {
				return
			}
		}
	}
}

// from yields the nodes from the first path that is not less than start, while keep says so.
func (s Snapshot) from(start string, keep func(path string) bool) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if s.nodes == nil {
			at, _ := s.at(start)
			for _, n := range s.list()[at:] {
				if !keep(n.Path) || !yield(n) {
					return
				}
			}
			return
		}
		s.nodes.Ascend(start, func(path string, n Node) bool { return keep(path) && yield(n) })
	}
}

// changed returns the state at revision that follows from this one by changes, which name each path once, in ascending
// order. The two states share all that they can.
func (s Snapshot) changed(revision Revision, changes []Change) Snapshot {
	next := Snapshot{revision: revision, few: s.few, nodes: s.nodes}
	switch {
	case len(changes) == 0:
	case s.nodes != nil:
		next.nodes = s.nodes.Copy()
		set(next.nodes, changes)
	case s.lenAfter(changes) <= mostFew:
		few := merged(s.list(), changes, s.lenAfter(changes))
		next.few = &few
	default:
		next.few, next.nodes = nil, many(s.list())
		set(next.nodes, changes)
	}
	return next
}

// lenAfter is how many nodes there are after changes.
func (s Snapshot) lenAfter(changes []Change) int {
	n := s.Len()
	for _, c := range changes {
		is, was := c.New.Exists(), s.Get(c.Path()).Exists()
		switch {
		case is && !was:
			n++
		case was && !is:
			n--
		}
	}
	return n
}

// merged returns n nodes: what changes make of some. Both come in ascending order of paths.
func merged(nodes []Node, changes []Change, n int) []Node {
	next := make([]Node, 0, n)
	for _, c := range changes {
		for len(nodes) > 0 && nodes[0].Path < c.Path() {
			next, nodes = append(next, nodes[0]), nodes[1:]
		}
		if len(nodes) > 0 && nodes[0].Path == c.Path() {
			nodes = nodes[1:]
		}
		if c.New.Exists() {
			next = append(next, c.New)
		}
	}
	return append(next, nodes...)
}

func set(tree *btree.Map[string, Node], changes []Change) {
	for _, c := range changes {
		if c.New.Exists() {
			tree.Set(c.New.Path, c.New)
		} else {
			tree.Delete(c.Old.Path)
		}
	}
}

// difference lists what turns one state into another, in ascending order of paths.
func difference(from, to Snapshot) []Change {
	var changes []Change
	for old := range from.All() {
		if n := to.Get(old.Path); n != old {
			changes = append(changes, Change{Old: old, New: n})
		}
	}
	for n := range to.All() {
		if !from.Get(n.Path).Exists() {
			changes = append(changes, Change{New: n})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return strings.Compare(a.Path(), b.Path()) })
	return changes
}
