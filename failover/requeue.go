package failover

import (
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Crashed tells whether an item was assigned to an instance that crashed, was not running, and is to
// be run again all the same, because the job's failover is of scope "assigned". It is true until the
// item has a new owner, so ask before resharding, or was run again by another since it was assigned to its owner: who resharded
// late, or died before that, may leave it without a new one for long.
func Crashed(s *jobtree.State, item int) bool {
	cfg := s.Config.Value
	if !cfg.Failover || cfg.Unmonitored || cfg.FailoverScope != job.FailoverAssigned {
		return false
	}
	it, owner := s.Item(item), s.Owner(item)
	if s.SharedWithJava() && jobtree.JavaInstance(owner) {
		return false // Java does not say that it leaves
	}
	if owner == "" || s.Instance(owner).Created != 0 || slices.Contains(s.Left, owner) {
		return false
	}
	if last := it.Record.Value.Current; last != nil && last.Source == job.Failover && last.Instance != owner &&
		registry.Revision(last.Token) > it.AssignedAt(s.Epoch.Value.ID()) {
		return false
	}
	_, err := it.Record.Value.Requeue()
	return err == nil && it.Record.Err == nil && !it.Running.Exists() && !it.Remains.Exists() && !it.Disabled
}

// Requeue returns the transaction that has an item of which [Crashed] is true wait for a claimant.
func Requeue(s *jobtree.State, item int) (registry.Txn, error) {
	it, tree := s.Item(item), s.Tree()
	record, err := it.Record.Value.Requeue()
	if err != nil {
		return registry.Txn{}, err
	}
	return registry.Txn{
		If: append(s.OwnerGuards(item),
			registry.Unchanged(tree.ItemRecord(item), it.Record.Revision),
			registry.Absent(tree.ItemRunning(item)),
			registry.Absent(tree.Instance(s.Owner(item))),
			// An item that never ran has no record yet; what is created is removed with the job, or when
			// the configuration has fewer items.
			registry.Unchanged(tree.Config(), s.Config.Revision),
		),
		Repeat: registry.RepeatCreation,
		Then: []registry.Write{
			registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(record)),
			registry.Put(tree.FailoverItem(item), ""),
		},
	}, nil
}
