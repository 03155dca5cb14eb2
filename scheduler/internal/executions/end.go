package executions

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Mark is the condition that the mark of an execution still stands. The mark's creation is the token, so an
// execution that was taken away cannot end the one that follows.
func Mark(tree jobtree.Tree, item int, token registry.Revision) registry.Condition {
	return registry.CreatedAt(tree.ItemRunning(item), token)
}

// End is the part of an end that every ending of an execution has; record is that after the execution, and source
// why it ran.
func End(tree jobtree.Tree, item int, token registry.Revision, source job.Source, record jobtree.Record) registry.Txn {
	txn := registry.Txn{
		If: []registry.Condition{Mark(tree, item, token)},
		Then: []registry.Write{
			registry.Delete(tree.ItemRunning(item)),
			registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(record)),
		},
	}
	if source == job.Failover {
		txn.Then = append(txn.Then, registry.Delete(tree.ItemFailover(item)))
	}
	if record.State == jobtree.ItemWaiting {
		txn.Then = append(txn.Then, registry.Put(tree.FailoverItem(item), ""))
	}
	return txn
}
