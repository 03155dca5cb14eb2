package registry

import (
	"fmt"
	"strconv"
)

// Revision numbers the states of the store. It only grows. On etcd it is the store's revision, on
// ZooKeeper the transaction id. Zero stands for "absent" where the revision of a node is meant.
type Revision int64

// String returns the decimal number.
func (r Revision) String() string { return strconv.FormatInt(int64(r), 10) }

// SessionID identifies a session in the store: on etcd the lease, on ZooKeeper the session. Zero is
// no session.
type SessionID int64

// String returns the id as the stores' own tools print it, in hexadecimal.
func (id SessionID) String() string { return strconv.FormatInt(int64(id), 16) }

// Node is one node as it was at some revision. The zero Node is one that is absent.
type Node struct {
	Path     string
	Value    string
	Created  Revision  // the commit that created it; a node deleted and put again has a new one
	Revision Revision  // the commit that last changed it; 0 = the node is absent
	Session  SessionID // the owner of an ephemeral node; 0 = persistent
}

// Exists tells whether the node was there.
func (n Node) Exists() bool { return n.Revision != 0 }

// Ephemeral tells whether the node belongs to a session and vanishes with it.
func (n Node) Ephemeral() bool { return n.Session != 0 }

// String describes the node for logs and test failures.
func (n Node) String() string {
	if !n.Exists() {
		return "absent"
	}
	if n.Ephemeral() {
		return fmt.Sprintf("%s=%q@%d (created %d, session %s)", n.Path, n.Value, n.Revision, n.Created, n.Session)
	}
	return fmt.Sprintf("%s=%q@%d (created %d)", n.Path, n.Value, n.Revision, n.Created)
}
