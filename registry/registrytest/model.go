package registrytest

import (
	"errors"
	"maps"
	"slices"

	"github.com/elasticron/elasticron/registry"
)

// model is what a namespace should look like: a map that does what the package documentation says, as
// plainly as it can be said.
type model map[string]registry.Node

// refusal tells why the transaction cannot be done on the model: a conflict, ErrOwned, or nil.
func (m model) refusal(txn registry.Txn) error {
	for _, c := range txn.Guards() {
		if found := m[c.Path]; !c.Holds(found) {
			return &registry.ConflictError{Condition: c, Found: found}
		}
	}
	for _, w := range txn.Then {
		if w.Kind == registry.WritePut && m[w.Path].Ephemeral() {
			return registry.ErrOwned
		}
	}
	return nil
}

// do carries out the writes of a commit that got a revision.
func (m model) do(txn registry.Txn, revision registry.Revision) {
	for _, w := range txn.Then {
		switch w.Kind {
		case registry.WriteDelete, registry.WriteDeleteTree:
			maps.DeleteFunc(m, func(path string, _ registry.Node) bool { return w.Touches(path) })
			continue
		}
		n := m[w.Path]
		if !n.Exists() {
			n = registry.Node{Path: w.Path, Created: revision}
		}
		if w.Kind == registry.WritePutOwned {
			n.Session = w.Session.ID()
		}
		n.Value, n.Revision = w.Value, revision
		m[w.Path] = n
	}
}

// changes tells whether the writes have any effect: deleting what is not there has none.
func (m model) changes(txn registry.Txn) bool {
	for _, w := range txn.Then {
		if w.Kind != registry.WriteDelete && w.Kind != registry.WriteDeleteTree {
			return true
		}
		for path := range m {
			if w.Touches(path) {
				return true
			}
		}
	}
	return false
}

// drop removes the nodes of a session.
func (m model) drop(id registry.SessionID) {
	maps.DeleteFunc(m, func(_ string, n registry.Node) bool { return n.Session == id })
}

// list returns all nodes in ascending order of paths.
func (m model) list() []registry.Node {
	nodes := []registry.Node{}
	for _, path := range slices.Sorted(maps.Keys(m)) {
		nodes = append(nodes, m[path])
	}
	return nodes
}

// agrees tells whether the store refused a transaction for the reason that the model has.
func agrees(want, got error) bool {
	var expected, conflict *registry.ConflictError
	if errors.As(want, &expected) {
		return errors.As(got, &conflict) && conflict.Condition == expected.Condition && conflict.Found == expected.Found
	}
	return errors.Is(got, want)
}
