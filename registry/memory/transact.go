package memory

import (
	"fmt"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// answer is what the server says to one transaction of a request.
type answer struct {
	revision registry.Revision
	err      error
	found    []registry.Node // beside an error: what is at and below the written paths
}

// transact carries out a request: transactions that do not touch each other's paths, each judged by
// itself on the state before the request. Those that are done share one revision.
func (s *Server) transact(prefix string, txns []registry.Txn) []answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	answers := make([]answer, len(txns))
	var events []backend.Event
	for i, txn := range txns {
		if err := s.judge(prefix, txn); err != nil {
			answers[i] = answer{err: err, found: s.written(prefix, txn)}
			continue
		}
		for _, w := range txn.Then {
			events = append(events, s.write(prefix, w)...)
		}
	}
	s.publish(events)
	for i := range answers {
		if answers[i].err == nil {
			answers[i].revision = s.revision
		}
	}
	return answers
}

// judge tells why the transaction cannot be done, in the order in which etcd would.
func (s *Server) judge(prefix string, txn registry.Txn) error {
	if s.full && puts(txn) {
		return registry.ErrNoSpace
	}
	for _, c := range txn.Guards() {
		if found := s.tree.get(prefix, c.Path); !c.Holds(found) {
			return &registry.ConflictError{Condition: c, Found: found, Revision: s.revision}
		}
	}
	for _, w := range txn.Then {
		switch w.Kind {
		case registry.WritePut:
			if found := s.tree.get(prefix, w.Path); found.Ephemeral() {
				return fmt.Errorf("%w: put of %s", registry.ErrOwned, found)
			}
		case registry.WritePutOwned:
			if s.leases[w.Session.ID()] == nil {
				return fmt.Errorf("%w: the store has no session %s", registry.ErrSessionLost, w.Session.ID())
			}
		}
	}
	return nil
}

func puts(txn registry.Txn) bool {
	for _, w := range txn.Then {
		if w.Kind != registry.WriteDelete && w.Kind != registry.WriteDeleteTree {
			return true
		}
	}
	return false
}

// write does one write, as part of the revision that comes next.
func (s *Server) write(prefix string, w registry.Write) []backend.Event {
	next := s.revision + 1
	full := prefix + w.Path
	n, _ := s.tree.nodes.Get(full)
	switch w.Kind {
	case registry.WriteDelete:
		if !n.Exists() {
			return nil
		}
		return []backend.Event{s.remove(n)}
	case registry.WriteDeleteTree:
		return s.removeAll(prefix, w.Path)
	case registry.WritePutOwned:
		n.Session = w.Session.ID()
		s.leases[n.Session].nodes[full] = struct{}{}
	}
	if !n.Exists() {
		n.Path, n.Created = full, next
	}
	n.Value, n.Revision = w.Value, next
	return []backend.Event{s.tree.set(n)}
}

func (s *Server) removeAll(prefix, path string) []backend.Event {
	var events []backend.Event
	for _, n := range s.tree.list(prefix, path) {
		n.Path = prefix + n.Path
		events = append(events, s.remove(n))
	}
	return events
}

// remove deletes a node, given with its full path, and takes it off its session.
func (s *Server) remove(n registry.Node) backend.Event {
	if l := s.leases[n.Session]; l != nil {
		delete(l.nodes, n.Path)
	}
	return s.tree.remove(n.Path, s.revision+1)
}

// written returns the nodes at and below the paths that the transaction writes.
func (s *Server) written(prefix string, txn registry.Txn) []registry.Node {
	var found []registry.Node
	for _, w := range txn.Then {
		if w.Kind == registry.WriteDeleteTree {
			found = append(found, s.tree.list(prefix, w.Path)...)
		} else if n := s.tree.get(prefix, w.Path); n.Exists() {
			found = append(found, n)
		}
	}
	return found
}
