package failover

import (
	"fmt"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Claimant is the instance that takes a lost execution over.
type Claimant struct {
	Instance string            // its id
	Session  *registry.Session // under which it lives and will run the item
	Round    string            // what begins together has the same
	Time     time.Time         // now
	Base     int64             // where the job's fencing tokens start
}

// Claimable tells whether an enabled server's instance may take over an item: it waits, nothing runs,
// no operator excluded it, and it is not surplus.
func Claimable(s *jobtree.State, item int) bool {
	it := s.Item(item)
	return it.Record.Err == nil && it.Record.Value.State == jobtree.ItemWaiting &&
		!it.Running.Exists() && !it.Remains.Exists() && !it.Failover.Exists() && !it.Disabled && item < s.Total() &&
		!TakenOver(s, item)
}

// Claim returns the transaction by which the claimant takes an item over and begins it (T7), and the
// record that it writes. The caller has seen [Claimable] be true of the same state.
func Claim(s *jobtree.State, item int, c Claimant) (registry.Txn, jobtree.Record, error) {
	it := s.Item(item)
	tree := s.Tree()
	record, err := it.Record.Value.Claim(jobtree.Claim{
		Instance: c.Instance, Session: c.Session.ID(), Round: c.Round, Time: c.Time, Base: c.Base,
	})
	if err != nil {
		return registry.Txn{}, jobtree.Record{}, fmt.Errorf("item %d: %w", item, err)
	}
	server := jobtree.ServerOf(c.Instance)
	unmarked, mark := s.MarkRunning(item, c.Instance, c.Session)
	return registry.Txn{
		If: []registry.Condition{
			registry.Unchanged(tree.ItemRecord(item), it.Record.Revision),
			registry.Unchanged(tree.FailoverItem(item), it.FailoverItem),
			registry.Absent(tree.ItemDisabled(item)),
			registry.Unchanged(tree.Server(server), s.Server(server).Revision),
			registry.Unchanged(tree.Epoch(), s.Epoch.Revision),
			// Whoever raises the fencing tokens writes the config as well.
			registry.Unchanged(tree.Config(), s.Config.Revision),
			registry.CreatedAt(tree.Instance(c.Instance), s.Instance(c.Instance).Created),
			unmarked,
		},
		Then: slices.Concat(
			[]registry.Write{registry.Delete(tree.FailoverItem(item))},
			s.MarkClaimed(item, c.Instance, c.Session),
			[]registry.Write{mark, registry.Put(tree.ItemRecord(item), jobtree.EncodeRecord(record))},
		),
	}, record, nil
}
