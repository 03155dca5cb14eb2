package etcd

import (
	"strings"

	"github.com/elasticron/elasticron/registry"
)

// footprint is the set of paths that some transactions read and write. etcd judges all conditions of
// a request, also those of nested transactions, on the state before the request. So transactions may
// share one only if none writes what another reads or writes; then the outcome is the same as one
// after the other. What a deletion of a subtree may touch counts whole.
type footprint struct {
	paths map[string]bool // true = written
	trees map[string]bool // roots of deleted subtrees
}

func newFootprint() *footprint {
	return &footprint{paths: make(map[string]bool), trees: make(map[string]bool)}
}

// forget empties the footprint and keeps its room.
func (f *footprint) forget() {
	clear(f.paths)
	clear(f.trees)
}

// conflictsWith tells whether the transaction writes what is in the footprint, or reads what is written.
func (f *footprint) conflictsWith(txn registry.Txn) bool {
	for _, c := range txn.If {
		if f.paths[c.Path] || f.underTree(c.Path) {
			return true
		}
	}
	for _, w := range txn.Then {
		if _, touched := f.paths[w.Path]; touched || f.underTree(w.Path) {
			return true
		}
		if w.Kind == registry.WriteDeleteTree && f.hasWithin(w.Path) {
			return true
		}
	}
	return false
}

// add includes the transaction.
func (f *footprint) add(txn registry.Txn) {
	for _, c := range txn.If {
		if _, known := f.paths[c.Path]; !known {
			f.paths[c.Path] = false
		}
	}
	for _, w := range txn.Then {
		f.paths[w.Path] = true
		if w.Kind == registry.WriteDeleteTree {
			f.trees[w.Path] = true
		}
	}
}

// underTree tells whether path is a deleted root or lies below one.
func (f *footprint) underTree(path string) bool {
	if len(f.trees) == 0 {
		return false
	}
	for path != "" {
		if f.trees[path] {
			return true
		}
		path = path[:strings.LastIndexByte(path, '/')]
	}
	return false
}

func (f *footprint) hasWithin(root string) bool {
	for path := range f.paths {
		if registry.Within(path, root) {
			return true
		}
	}
	return false
}
