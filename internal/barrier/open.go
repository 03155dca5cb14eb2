package barrier

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// Opens tells whether a barrier is to be opened for a round: none was, for it or a later one of its
// kind, and no hook is under way.
func Opens(s *jobtree.State, p jobtree.Phase, key jobtree.RoundKey) bool {
	b := s.Barrier(p)
	return !key.IsZero() && !b.Round.Value.Covers(key) && !b.Round.Value.Underway() && !b.Hook.Exists()
}

// Open returns the transaction that opens a barrier for which [Opens] is true. Awaited is every item
// that can begin: not one that is disabled, and not one that still runs an earlier fire, if the job
// does not make up for fires that were missed; by hand, only those that are asked for.
func Open(s *jobtree.State, p jobtree.Phase, key jobtree.RoundKey, now time.Time) registry.Txn {
	var items []int
	for n := range s.Total() {
		it := s.Item(n)
		busy := it.Running.Exists() && !key.Manual() && s.Config.Value.Misfire == job.MisfireSkip && it.Record.Value.LastFire.Before(key.Fire)
		if !it.Disabled && !busy && asked(s, key, it) {
			items = append(items, n)
		}
	}
	b := s.Barrier(p)
	tree := s.Tree()
	conditions := []registry.Condition{
		registry.Unchanged(tree.Barrier(p), b.Round.Revision),
		registry.Absent(tree.BarrierHook(p)),
		registry.Unchanged(tree.Config(), s.Config.Revision),
	}
	if key.Manual() && s.Triggered().Revision == key.Trigger {
		conditions = append(conditions, registry.Unchanged(tree.Triggered(), key.Trigger))
	}
	return registry.Txn{
		If:   conditions,
		Then: []registry.Write{registry.Put(tree.Barrier(p), jobtree.EncodeBarrier(b.Round.Value.Next(key, items, now)))},
		// The first round of a job creates its barrier, which is removed with the job alone.
		Repeat: registry.RepeatCreation,
	}
}

// asked tells whether an item runs in a round by hand: one that ran for it, or is to. In a round of a fire, all
// are.
func asked(s *jobtree.State, key jobtree.RoundKey, it jobtree.Item) bool {
	t := s.Triggered()
	switch {
	case !key.Manual() || t.Revision < key.Trigger: // asked by the values of instances
		return true
	case t.Revision == key.Trigger:
		return t.Value.Asks(it.Number) && (it.Record.Value.Trigger >= key.Trigger || s.Reachable(it.Number, key.Trigger))
	default: // another request has taken its place
		return it.Record.Value.Trigger >= key.Trigger
	}
}
