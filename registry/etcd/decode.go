package etcd

import (
	"fmt"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"github.com/elasticron/elasticron/registry"
)

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
