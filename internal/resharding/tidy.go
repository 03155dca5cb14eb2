package resharding

import (
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Tidy returns what a leader must commit, as independent transactions, before it makes a plan, and
// nothing if the state is tidy. It changes nobody's items:
//
//   - An owner that was written beside the former one, and whose epoch is in force, takes its place.
//     One whose epoch never came into force is dropped.
//   - Instances that left by their own will need not be remembered once they own nothing, and must
//     not be once they are back: if they crash later, they did not leave.
//   - Items beyond the total lose their owner, their missed fires and their wish for a claimant.
//     What runs of them goes on. While the epoch cannot be read, nobody knows which they are.
//
// Each transaction changes something or conflicts: the leader waits until its view shows what it has committed, and of a
// deletion of what somebody has deleted before it, be it an earlier copy, no view shows anything.
func Tidy(s *jobtree.State, term registry.Revision) []registry.Txn {
	var chores [][]registry.Write // of one item or instance each
	var reads [][]registry.Condition
	add := func(writes []registry.Write, conditions []registry.Condition) {
		if len(writes) > 0 {
			chores, reads = append(chores, writes), append(reads, conditions)
		}
	}
	for item := range s.Items() {
		writes, conditions := tidyNext(s, item)
		if s.Epoch.Err == nil && s.Surplus(item) {
			surplus, seen := tidySurplus(s, item)
			writes, conditions = append(writes, surplus...), append(conditions, seen...)
		}
		add(writes, conditions)
	}
	for _, id := range s.Left {
		add(tidyLeft(s, id))
	}
	return tidyTxns(s, term, chores, reads)
}

func tidyLeft(s *jobtree.State, id string) ([]registry.Write, []registry.Condition) {
	left := s.Tree().FailoverLeft(id)
	seen := []registry.Condition{registry.Present(left)}
	if back := s.Instance(id); back.Created != 0 {
		seen = append(seen, registry.CreatedAt(s.Tree().Instance(id), back.Created))
	} else if ownsAny(s, id) {
		return nil, nil
	}
	return []registry.Write{registry.Delete(left)}, seen
}

func ownsAny(s *jobtree.State, id string) bool {
	for item := range s.Total() {
		if s.Owner(item) == id {
			return true
		}
	}
	return false
}

// itemsPerChore keeps a transaction of chores within the limits: an item has at most four writes, and as many conditions.
const itemsPerChore = maxWrites / 4

func tidyTxns(s *jobtree.State, term registry.Revision, chores [][]registry.Write, reads [][]registry.Condition) []registry.Txn {
	var txns []registry.Txn
	for start := 0; start < len(chores); start += itemsPerChore {
		end := min(start+itemsPerChore, len(chores))
		txns = append(txns, registry.Txn{
			If: slices.Concat([]registry.Condition{
				registry.CreatedAt(s.Tree().Leader(), term),
				registry.Unchanged(s.Tree().Epoch(), s.Epoch.Revision),
			}, slices.Concat(reads[start:end]...)),
			Then: slices.Concat(chores[start:end]...),

			Repeat: registry.RepeatHarmless, // what is surplus or has left is so for as long as the epoch stands
		})
	}
	return txns
}

func tidyNext(s *jobtree.State, item int) ([]registry.Write, []registry.Condition) {
	it, path := s.Item(item), s.Tree().ItemNext(item)
	if !it.Next.Exists() {
		return nil, nil
	}
	unchanged := []registry.Condition{registry.Unchanged(path, it.Next.Revision)}
	writes := []registry.Write{registry.Delete(path)}
	if owner := s.Owner(item); owner != it.Instance && owner != "" {
		writes = append(writes, registry.Put(s.Tree().ItemInstance(item), owner))
	}
	return writes, unchanged
}

func tidySurplus(s *jobtree.State, item int) (writes []registry.Write, seen []registry.Condition) {
	it, tree := s.Item(item), s.Tree()
	for _, n := range []struct {
		path string
		at   registry.Revision
	}{
		{tree.ItemInstance(item), it.InstanceRevision},
		{tree.ItemMisfire(item), it.Misfire.Revision},
		{tree.FailoverItem(item), it.FailoverItem},
	} {
		if n.at != 0 {
			writes, seen = append(writes, registry.Delete(n.path)), append(seen, registry.Unchanged(n.path, n.at))
		}
	}
	return writes, seen
}
