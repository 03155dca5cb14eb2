package failover

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Moot tells whether an item waits to be run again in a job that records nothing any more: what runs of it meanwhile is in no
// record, so nobody could tell later that the item has gone on.
func Moot(s *jobtree.State, item int) bool {
	stored := s.Record(item)
	return s.Config.Value.Unmonitored && stored.Err == nil && stored.Value.State == jobtree.ItemWaiting
}

// GiveUp returns the transaction by which an item does not wait any more for a lost execution to be run again. The caller has
// seen [Moot] be true of the same state.
func GiveUp(s *jobtree.State, item int) (registry.Txn, error) {
	it, tree := s.Item(item), s.Tree()
	record, err := it.Record.Value.GiveUp()
	if err != nil {
		return registry.Txn{}, err
	}
	txn := registry.Txn{
		If: []registry.Condition{
			registry.Unchanged(tree.ItemRecord(item), it.Record.Revision),
			registry.Unchanged(tree.FailoverItem(item), it.FailoverItem),
			registry.Unchanged(tree.Config(), s.Config.Revision), // by which nothing is recorded
		},
		Then: []registry.Write{registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(record))},
	}
	if it.FailoverItem != 0 {
		txn.Then = append(txn.Then, registry.Delete(tree.FailoverItem(item)))
	}
	compare, take := s.TakeRemains(item) // by which ElasticJob 3.x would run it again
	txn.If, txn.Then = append(txn.If, compare...), append(txn.Then, take...)
	return txn, nil
}
