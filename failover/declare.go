package failover

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Lost tells whether an item's execution is recorded as running although nothing runs any more: its
// mark is gone, and its instance is gone or lives under another session.
//
// A state shows mark and record of one and the same revision, so a begin or an end under way never
// looks like a loss.
//
// Where Java instances share the job, the mark of another session is of an execution of Java's: of a
// regular one, which says nothing of the lost one, unless the item is marked as claimed, too.
func Lost(s *jobtree.State, item int) bool {
	stored := s.Record(item)
	record := stored.Value
	if record.State != jobtree.ItemRunning || stored.Err != nil {
		return false
	}
	it := s.Item(item)
	marked := it.Running.Exists()
	if s.SharedWithJava() {
		marked = it.Running.Session == record.Current.Session || it.Failover.Exists()
	}
	return !marked && s.Instance(record.Current.Instance).Session != record.Current.Session
}

// Declare returns the transaction that records an execution as lost (T6). now goes into the record, and limit is how often
// in a row a lost execution is run again, 0 being without limit. The caller has seen [Lost] be true of the same state.
func Declare(s *jobtree.State, item int, now time.Time, limit int) (registry.Txn, error) {
	it := s.Item(item)
	tree, runner := s.Tree(), it.Record.Value.Current
	token := it.Record.Value.Token(it.Record.Revision)
	record, err := it.Record.Value.DeclareLost(int64(token), now, limit)
	if err != nil {
		return registry.Txn{}, err
	}
	txn := registry.Txn{
		If: []registry.Condition{
			registry.Unchanged(tree.ItemRecord(item), it.Record.Revision),
			registry.Absent(tree.ItemRunning(item)),
			registry.NotOwnedBy(tree.Instance(runner.Instance), runner.Session),
		},
		Then: []registry.Write{registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(record))},
	}
	if s.SharedWithJava() {
		txn.If[1] = registry.NotOwnedBy(tree.ItemRunning(item), runner.Session)
		txn.If = append(txn.If, registry.Absent(tree.ItemFailover(item)))
	}
	if guards, writes := s.TakeRemains(item); guards != nil {
		txn.If = append(slices.DeleteFunc(txn.If, func(c registry.Condition) bool { return c.Path == tree.ItemRunning(item) }), guards...)
		txn.Then = append(txn.Then, writes...)
	}
	if s.Layout() == jobtree.ElasticJob3 && runner.Source == job.Failover {
		txn.Then = append(txn.Then, registry.Delete(tree.ItemFailovering(item))) // which would have others claim it once more
	}
	if record.State == jobtree.ItemWaiting {
		txn.Then = append(txn.Then, registry.Put(tree.FailoverItem(item), ""))
	}
	return txn, nil
}
