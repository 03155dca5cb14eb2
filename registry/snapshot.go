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
	nodes    *btree.Map[string, Node]
}

// NewSnapshot makes a snapshot of nodes, which may come in any order.
func NewSnapshot(revision Revision, nodes []Node) Snapshot {
	tree := new(btree.Map[string, Node])
	for _, n := range nodes {
		tree.Set(n.Path, n)
	}
	return Snapshot{revision: revision, nodes: tree}
}

// Revision returns a revision at which this state was true.
func (s Snapshot) Revision() Revision { return s.revision }

// Len returns the number of nodes.
func (s Snapshot) Len() int {
	if s.nodes == nil {
		return 0
	}
	return s.nodes.Len()
}

// Get returns the node at path; the zero Node if it is absent.
func (s Snapshot) Get(path string) Node {
	if s.nodes == nil {
		return Node{}
	}
	n, _ := s.nodes.Get(path)
	return n
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
			return
		}
		s.nodes.Ascend(start, func(path string, n Node) bool { return keep(path) && yield(n) })
	}
}

// changed returns the state that changes, each path once, make of this one at revision. The two share all
// that they can.
func (s Snapshot) changed(revision Revision, changes []Change) Snapshot {
	next := Snapshot{revision: revision, nodes: s.nodes}
	if len(changes) == 0 {
		return next
	}
	next.nodes = new(btree.Map[string, Node])
	if s.nodes != nil {
		next.nodes = s.nodes.Copy()
	}
	for _, c := range changes {
		if c.New.Exists() {
			next.nodes.Set(c.New.Path, c.New)
		} else {
			next.nodes.Delete(c.Old.Path)
		}
	}
	return next
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
