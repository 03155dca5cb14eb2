package zkcompat

import (
	"strings"

	"github.com/elasticron/elasticron/registry"
)

// namespace turns paths of the registry into those of znodes and back.
type namespace struct{ base string }

func newNamespace(name string) namespace { return namespace{registry.Root + name} }

// znode returns the znode of a path.
func (n namespace) znode(path string) string {
	if path == registry.Root {
		return n.base
	}
	return n.base + path
}

// path returns the path of a znode of the namespace.
func (n namespace) path(znode string) string {
	if len(znode) <= len(n.base) {
		return registry.Root
	}
	return znode[len(n.base):]
}

// parentOf returns the parent of a path or znode.
func parentOf(path string) string {
	if at := strings.LastIndexByte(path, '/'); at > 0 {
		return path[:at]
	}
	return registry.Root
}

// childOf returns the path or znode of a child.
func childOf(parent, name string) string {
	if parent == registry.Root {
		return parent + name
	}
	return parent + "/" + name
}
