//go:build linux

package process_test

import (
	"path"

	"github.com/elasticron/elasticron/integration/zookeeper/txnlog"
	"github.com/elasticron/elasticron/registry"
)

// znodes are the nodes of a ZooKeeper server.
type znodes map[string]znode

type znode struct {
	there, written, parent bool // written = after its creation; parent = it ever had a child
	data                   string
	created, changed       int64
	owner                  int64
}

// apply does what an operation did, and notes the znodes that it touched.
func (z znodes) apply(txn txnlog.Txn, op txnlog.Op, touched map[string]bool) {
	touched[op.Path] = true
	switch op.Kind {
	case txnlog.Create:
		n := znode{there: true, data: string(op.Data), created: txn.Zxid, changed: txn.Zxid}
		if op.Ephemeral {
			n.owner = txn.Session
		}
		z[op.Path] = n
		above := path.Dir(op.Path)
		if parent, known := z[above]; known && !parent.parent {
			parent.parent = true
			z[above], touched[above] = parent, true
		}
	case txnlog.Set:
		n := z[op.Path]
		n.written, n.data, n.changed = true, string(op.Data), txn.Zxid
		z[op.Path] = n
	case txnlog.Delete:
		delete(z, op.Path)
	}
}

// node returns the node of the registry that a znode stands for, as package zkcompat says: an empty one
// that was never written to and ever had a child is there for its children alone.
func (z znodes) node(znode, path string) registry.Node {
	n := z[znode]
	if !n.there || n.data == "" && !n.written && n.owner == 0 && n.parent {
		return registry.Node{}
	}
	return registry.Node{
		Path: path, Value: n.data, Created: registry.Revision(n.created),
		Revision: registry.Revision(n.changed), Session: registry.SessionID(n.owner),
	}
}
