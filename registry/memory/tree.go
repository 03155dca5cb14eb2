package memory

import (
	"strings"

	"github.com/tidwall/btree"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// tree holds the nodes of all namespaces under their full paths, "/shop/orders/config". It is
// guarded by the server's lock.
type tree struct {
	nodes btree.Map[string, registry.Node]
}

// get returns the node that a handle with this prefix sees at path.
func (t *tree) get(prefix, path string) registry.Node {
	n, _ := t.nodes.Get(prefix + path)
	return relative(prefix, n)
}

// list returns the node at path and those below it, in ascending order.
func (t *tree) list(prefix, path string) []registry.Node {
	root := prefix + path
	var found []registry.Node
	if path == registry.Root {
		root = prefix
	} else if n := t.get(prefix, path); n.Exists() {
		found = append(found, n)
	}
	below := root + "/"
	t.nodes.Ascend(below, func(full string, n registry.Node) bool {
		if !strings.HasPrefix(full, below) {
			return false
		}
		found = append(found, relative(prefix, n))
		return true
	})
	return found
}

// set puts a node with its full path and tells the event.
func (t *tree) set(n registry.Node) backend.Event {
	t.nodes.Set(n.Path, n)
	return backend.Event{Path: n.Path, Node: n}
}

// remove deletes the node at a full path, at a revision, and tells the event.
func (t *tree) remove(full string, at registry.Revision) backend.Event {
	t.nodes.Delete(full)
	return backend.Event{Path: full, Removed: at}
}

// relative turns a node of the store into what a handle with this prefix shows.
func relative(prefix string, n registry.Node) registry.Node {
	if n.Exists() {
		n.Path = n.Path[len(prefix):]
	}
	return n
}
