package etcd

import (
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/elasticron/elasticron/registry"
)

// namespace is the prefix of all keys, with a slash before and none behind. It is the only thing
// that joins and cuts keys.
type namespace string

func newNamespace(name string) namespace { return namespace("/" + name) }

// key returns the key of the node at path.
func (n namespace) key(path string) string { return string(n) + path }

// below returns the range of the keys below path: start is in it, end is not. A slash is followed by
// a zero in the order of bytes.
func (n namespace) below(path string) (start, end string) {
	if path == registry.Root {
		path = ""
	}
	return string(n) + path + "/", string(n) + path + "0"
}

// around returns one range that holds the node at path and those below it, and perhaps some
// neighbours such as "/job-1" of "/job".
func (n namespace) around(path string) (start, end string) {
	start, end = n.below(path)
	if path != registry.Root {
		start = n.key(path)
	}
	return start, end
}

// node reads a key as a node. It is false for a key that no registry wrote: outside the namespace,
// or not a path.
func (n namespace) node(kv *mvccpb.KeyValue) (registry.Node, bool) {
	path, inside := strings.CutPrefix(string(kv.Key), string(n))
	if !inside || registry.CheckPath(path) != nil {
		return registry.Node{}, false
	}
	return registry.Node{
		Path:     path,
		Value:    string(kv.Value),
		Created:  registry.Revision(kv.CreateRevision),
		Revision: registry.Revision(kv.ModRevision),
		Session:  registry.SessionID(kv.Lease),
	}, true
}

// nodes reads all keys that are nodes, in their order.
func (n namespace) nodes(kvs []*mvccpb.KeyValue) []registry.Node {
	nodes := make([]registry.Node, 0, len(kvs))
	for _, kv := range kvs {
		if node, ok := n.node(kv); ok {
			nodes = append(nodes, node)
		}
	}
	return nodes
}
