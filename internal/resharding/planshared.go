package resharding

import (
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/sharding"
)

// PlanStaying is the plan of a leader who leaves all items where they are, although their owners may be gone: it says by
// its epoch that it leads. It is for jobs with [jobtree.State.StaticSharding] whose assignment is complete.
func PlanStaying(s *jobtree.State, term registry.Revision) Plan {
	members, total := members(s, nil), s.Config.Value.ShardingTotalCount
	return planShared(s, Plan{Instances: len(members), Total: total}, members, current(s, total), term, nil)
}

// planShared is the plan of a job that Java instances share. They look at nothing but instance nodes, so
// it is one transaction however large the job is, and the registry refuses it if that is too large.
//
// Java takes the mark of a running item from whoever has it when it begins, so an item that runs stays
// with its owner until it has ended. Nobody waits for that: the request is answered at once, and the
// item is moved by another plan. So is what hold holds. One that runs and has no owner gets who runs it until then: while the
// last items have none, the job has fewer than its settings say, and nothing of it begins.
func planShared(s *jobtree.State, plan Plan, members []jobtree.Instance, wanted sharding.Assignment, term registry.Revision, hold func(from, to string) bool) Plan {
	tree := s.Tree()
	var moved []move
	conditions := guards(s, members, term, maxConditions)
	for _, m := range moves(s, wanted) {
		from := s.Owner(m.item)
		if s.Runs(m.item) || s.Item(m.item).Remains.Exists() || hold != nil && hold(from, m.owner) {
			plan.Held = append(plan.Held, m.item)
			if runner := s.Runner(m.item); from == "" && slices.ContainsFunc(members, func(i jobtree.Instance) bool { return i.ID == runner }) {
				conditions = append(conditions, registry.Unchanged(tree.ItemInstance(m.item), s.Item(m.item).InstanceRevision))
				moved = append(moved, move{m.item, runner})
			}
			continue
		}
		moved = append(moved, m)
		if from != "" && jobtree.JavaInstance(m.owner) && !jobtree.JavaInstance(from) {
			// One of ours writes the record when it begins and when it ends: none did since it was looked at.
			conditions = append(conditions, registry.Unchanged(tree.ItemRecord(m.item), s.Item(m.item).Record.Revision))
		} else {
			conditions = append(conditions, registry.Absent(tree.ItemRunning(m.item)))
		}
	}
	plan.Moved = len(moved)
	writes := putOwners(tree, moved)
	surplus := surplusOwners(s, plan.Total)
	writes = append(writes, surplus...)
	inForce := s.Epoch.Exists() && s.Epoch.Value.Term == term && s.Epoch.Value.Total == plan.Total
	if len(moved)+len(surplus) > 0 || !inForce {
		writes = append(writes, registry.Put(tree.Epoch(), jobtree.EncodeEpoch(nextEpoch(s, term, plan.Total))))
	}
	if s.Necessary != 0 {
		writes = append(writes, registry.Delete(tree.Necessary()))
	}
	plan.Needed = len(writes) > 0
	plan.Txn = registry.Txn{If: conditions, Then: writes, Repeat: registry.RepeatCreation}
	return plan
}

// Leaving lists the items of an instance that the strategy wants others to have, whatever they run now. The error is that of
// [PlanOf].
func Leaving(s *jobtree.State, strategy sharding.Strategy, instance string) ([]int, error) {
	members := members(s, nil)
	if len(members) == 0 {
		return nil, nil
	}
	wanted, err := wanted(s, strategy, members)
	var leaving []int
	for item, owner := range wanted {
		if owner != instance && s.Owner(item) == instance {
			leaving = append(leaving, item)
		}
	}
	return leaving, err
}

// surplusOwners takes the items from total on from their owners, as the number of items that have one is
// how many are in force.
func surplusOwners(s *jobtree.State, total int) []registry.Write {
	var writes []registry.Write
	for item := total; item < s.Items(); item++ {
		if s.Item(item).InstanceRevision != 0 {
			writes = append(writes, registry.Delete(s.Tree().ItemInstance(item)))
		}
	}
	return writes
}
