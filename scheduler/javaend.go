package scheduler

import (
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// unmarked tells whether an item is recorded as running under the present session, though it has no
// mark of it.
func (r *runner) unmarked(node jobtree.Item) bool {
	record := node.Record.Value
	return r.s.java && record.State == jobtree.ItemRunning && node.Running.Session != r.attached.session.ID() &&
		record.Current.Instance == r.s.instance && record.Current.Session == r.attached.session.ID()
}

// proposeUnmarked proposes to end such an execution, which nothing of this process stands behind.
func (r *runner) proposeUnmarked(batch *proposals, n int, node jobtree.Item) {
	record, err := node.Record.Value.End(jobtree.End{
		Token: int64(node.Record.Revision), Time: r.s.now(), Outcome: jobtree.Interrupted,
		Error: "a Java instance took its mark away", FailoverLimit: r.failoverLimit(),
	})
	if err != nil {
		r.log.ErrorContext(r.life, "cannot end an execution that nobody runs", logItem, n, logError, err)
		return
	}
	txn := registry.Txn{
		If:   []registry.Condition{registry.Unchanged(r.tree.ItemRecord(n), node.Record.Revision)},
		Then: []registry.Write{registry.Put(r.tree.ItemRecord(n), jobtree.EncodeRecord(record))},
	}
	if record.State == jobtree.ItemWaiting {
		txn.Then = append(txn.Then, registry.Put(r.tree.FailoverItem(n), ""))
	}
	if node.Record.Value.Current.Source == job.Failover && node.Failover.Session == r.attached.session.ID() {
		txn.Then = append(txn.Then, registry.Delete(r.tree.ItemFailover(n)))
	}
	batch.add(txn, func(o registry.Outcome) { r.committed(o.Revision) })
}
