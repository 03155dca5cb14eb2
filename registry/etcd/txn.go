package etcd

import (
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
)

// encoded is a transaction in etcd's terms: if all compares hold, do then, otherwise read what they
// looked at, so that a refusal is explained by the same answer.
type encoded struct {
	compares   []clientv3.Cmp
	then, els  []clientv3.Op
	lookedAt   map[string]bool // paths that els reads
	keyedBytes int             // of keys and values, about
}

// encode translates a transaction. One that is repeated after a try without an answer also reads
// what it would have deleted, so that its outcome can be settled.
func (n namespace) encode(txn registry.Txn, repeated bool) *encoded {
	e := &encoded{lookedAt: make(map[string]bool)}
	for _, c := range txn.Guards() {
		e.compares = append(e.compares, n.compare(c))
		e.look(n, c.Path)
	}
	for _, w := range txn.Then {
		e.write(n, w)
		if repeated {
			e.lookAtDeleted(n, w)
		}
	}
	return e
}

func (n namespace) compare(c registry.Condition) clientv3.Cmp {
	key := n.key(c.Path)
	switch c.Kind {
	case registry.CondPresent:
		return clientv3.Compare(clientv3.CreateRevision(key), ">", 0)
	case registry.CondUnchanged:
		return clientv3.Compare(clientv3.ModRevision(key), "=", int64(c.Revision))
	case registry.CondCreatedAt:
		return clientv3.Compare(clientv3.CreateRevision(key), "=", int64(c.Revision))
	case registry.CondNotOwnedBy: // etcd compares an absent key as one without a lease
		return clientv3.Compare(clientv3.LeaseValue(key), "!=", clientv3.LeaseID(c.Session))
	default: // registry.CondAbsent; Txn.Check let no other pass
		return clientv3.Compare(clientv3.CreateRevision(key), "=", 0)
	}
}

func (e *encoded) write(n namespace, w registry.Write) {
	key := n.key(w.Path)
	e.keyedBytes += len(key) + len(w.Value)
	switch w.Kind {
	case registry.WritePut:
		// A put without a lease would detach the key from its session and outlive it.
		e.compares = append(e.compares, clientv3.Compare(clientv3.LeaseValue(key), "=", 0))
		e.look(n, w.Path)
		e.then = append(e.then, clientv3.OpPut(key, w.Value))
	case registry.WritePutOwned:
		e.then = append(e.then, clientv3.OpPut(key, w.Value, clientv3.WithLease(clientv3.LeaseID(w.Session.ID()))))
	case registry.WriteUpdate:
		e.then = append(e.then, clientv3.OpPut(key, w.Value, clientv3.WithIgnoreLease()))
	case registry.WriteDelete:
		e.then = append(e.then, clientv3.OpDelete(key))
	case registry.WriteDeleteTree:
		start, end := n.below(w.Path)
		e.then = append(e.then, clientv3.OpDelete(key), clientv3.OpDelete(start, clientv3.WithRange(end)))
	}
}

func (e *encoded) lookAtDeleted(n namespace, w registry.Write) {
	switch w.Kind {
	case registry.WriteDelete:
		e.look(n, w.Path)
	case registry.WriteDeleteTree:
		e.look(n, w.Path)
		start, end := n.below(w.Path)
		e.els = append(e.els, clientv3.OpGet(start, clientv3.WithRange(end), clientv3.WithLimit(1), clientv3.WithKeysOnly()))
	}
}

func (e *encoded) look(n namespace, path string) {
	key := n.key(path)
	e.keyedBytes += len(key)
	if !e.lookedAt[path] {
		e.lookedAt[path] = true
		e.els = append(e.els, clientv3.OpGet(key))
	}
}

// op returns the transaction as one operation.
func (e *encoded) op() clientv3.Op { return clientv3.OpTxn(e.compares, e.then, e.els) }

// size is what etcd counts against its limit of operations: the longest of the three lists.
func (e *encoded) size() int { return max(len(e.compares), len(e.then), len(e.els)) }

// weight is about how much the store has to do.
func (e *encoded) weight() int { return len(e.compares) + len(e.then) }

// conflict explains why the transaction was refused at revision: by the first condition that did not
// hold, or else by a plain put on a node that a session owns. found are the nodes that the refusal
// showed.
func (n namespace) conflict(txn registry.Txn, resp *pb.TxnResponse, revision registry.Revision) (found []registry.Node, refusal error) {
	at := make(map[string]registry.Node)
	for _, part := range resp.Responses {
		for _, node := range n.nodes(part.GetResponseRange().GetKvs()) {
			found = append(found, node)
			at[node.Path] = node
		}
	}
	for _, c := range txn.Guards() {
		if !c.Holds(at[c.Path]) {
			return found, &registry.ConflictError{Condition: c, Found: at[c.Path], Revision: revision}
		}
	}
	for _, w := range txn.Then {
		if node := at[w.Path]; w.Kind == registry.WritePut && node.Ephemeral() {
			return found, fmt.Errorf("%w: put of %s", registry.ErrOwned, node)
		}
	}
	return found, fmt.Errorf("etcd refused at revision %d what the nodes that it showed allow: %v", revision, found)
}
