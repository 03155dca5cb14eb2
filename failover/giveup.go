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
	_, compare, write, err := s.GiveUp(item)
	if err != nil {
		return registry.Txn{}, err
	}
	recordsNothing := registry.Unchanged(s.Tree().Config(), s.Config.Revision)
	return registry.Txn{If: append(compare, recordsNothing), Then: write}, nil
}
