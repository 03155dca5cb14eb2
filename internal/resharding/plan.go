package resharding

import (
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/sharding"
)

const (
	// maxWrites is how many items a plan moves in one transaction: a resharding of a hundred items is one
	// commit.
	maxWrites = registry.MaxOps - 18
	// maxConditions is how many conditions it has, with one more for each plain put, by which a store may
	// judge that no session owns the node. Every registry takes a few more.
	maxConditions = registry.MaxOps - 4
)

// itemsPerPart is for how many items a part of a resharding names the next owner. Each takes a write and two
// conditions, as a store may judge a plain put by one of its own.
const itemsPerPart = maxWrites / 4

// Plan is a resharding: what a leader must commit so that the assignment is the one that members and
// settings want.
//
// One that is too large for a transaction is written in parts, which nobody heeds before Txn puts
// their epoch into force. So every reader sees the old assignment or the new one, never a mixture,
// and a leader that dies in between leaves the old one in force. [Tidy] clears up afterwards.
type Plan struct {
	// Parts come first, in any order, and all must be done before Txn. Most plans have none.
	Parts []registry.Txn
	// Txn makes it so (T3). It is guarded by the leader's term and by all that the plan was made
	// from.
	Txn registry.Txn
	// Needed is false if there is nothing to write.
	Needed bool
	// Instances is how many take part, Moved how many items change their owner, Total how many
	// items there are.
	Instances, Moved, Total int
	// Held are the items that should change their owner as soon as they do not run any more. There are none
	// unless Java instances share the job.
	Held []int
}

// PlanOf compares the assignment that the strategy wants of a job's state with the one in force. term
// is the revision that created the planning leader's node. The state must be tidy: see [Tidy].
//
// Items belong to the live instances whose servers are enabled and that are not about to leave. If there are none, the
// assignment stays as it is: there is nobody to whom it matters. The error is that of [Run].
func PlanOf(s *jobtree.State, strategy sharding.Strategy, term registry.Revision) (Plan, error) {
	return PlanHolding(s, strategy, term, nil, nil)
}

// PlanHolding is [PlanOf] for a leader that holds moves back for now: where Java instances share the job,
// those for which hold, given the item's owners, is true count as Held. A nil hold holds none. Instances for which without
// is true get no items, as if they were not there; a nil one leaves out nobody.
func PlanHolding(s *jobtree.State, strategy sharding.Strategy, term registry.Revision, without func(jobtree.Instance) bool, hold func(from, to string) bool) (Plan, error) {
	return planFor(s, strategy, term, members(s, without), hold, 0)
}

// planFor is [PlanHolding] for the members that may get items. Its transactions leave as much room as is taken by
// conditions and writes that somebody adds.
func planFor(s *jobtree.State, strategy sharding.Strategy, term registry.Revision, members []jobtree.Instance, hold func(from, to string) bool, taken int) (Plan, error) {
	total := s.Config.Value.ShardingTotalCount
	plan := Plan{Instances: len(members), Total: total}
	if len(members) == 0 {
		return plan, nil
	}
	wanted, err := wanted(s, strategy, members)
	if err != nil {
		return Plan{}, err
	}
	if s.SharedWithJava() {
		return planShared(s, plan, members, wanted, term, hold), nil
	}
	return planMoves(s, plan, members, moves(s, wanted), term, taken), nil
}

// planMoves completes the plan that makes these moves, and no others.
func planMoves(s *jobtree.State, plan Plan, members []jobtree.Instance, moved []move, term registry.Revision, taken int) Plan {
	plan.Moved = len(moved)
	epoch := nextEpoch(s, term, plan.Total)
	var writes []registry.Write
	if len(moved) <= maxWrites-taken {
		writes = putOwners(s.Tree(), moved)
	} else {
		plan.Parts = parts(s, moved, epoch.ID(), term)
	}
	if len(moved) > 0 || !s.Epoch.Exists() || s.Epoch.Value.Total != plan.Total {
		writes = append(writes, registry.Put(s.Tree().Epoch(), jobtree.EncodeEpoch(epoch)))
	}
	if s.Necessary != 0 {
		writes = append(writes, registry.Delete(s.Tree().Necessary()))
	}
	plan.Needed = len(writes) > 0
	// The first resharding of a job creates its epoch, which is removed with the job alone.
	plan.Txn = registry.Txn{If: guards(s, members, term, maxConditions-taken-len(writes)), Then: writes, Repeat: registry.RepeatCreation}
	return plan
}

// PlanCounting is for a leader who must do without the strategy's answer after the total count has changed: every item that
// there still is stays with its owner, under the new count, and a new one has none: the state must be tidy. There is nothing
// to write otherwise, nor where Java instances share the job: they take the number of items that have an owner for the count.
func PlanCounting(s *jobtree.State, term registry.Revision) Plan {
	members, total := members(s, nil), s.Config.Value.ShardingTotalCount
	plan := Plan{Instances: len(members), Total: total}
	if s.Total() == total || s.SharedWithJava() || len(members) == 0 {
		return plan
	}
	return planMoves(s, plan, members, nil, term, 0)
}

// wanted is the assignment that the strategy wants.
func wanted(s *jobtree.State, strategy sharding.Strategy, members []jobtree.Instance) (sharding.Assignment, error) {
	total := s.Config.Value.ShardingTotalCount
	return sharding.Run(strategy, sharding.Request{
		Job: s.Tree().Job(), Instances: ids(members), Total: total, Current: current(s, total),
	})
}

// members are the instances that may get items.
func members(s *jobtree.State, without func(jobtree.Instance) bool) []jobtree.Instance {
	var members []jobtree.Instance
	for _, instance := range s.Instances {
		if s.MayOwn(instance) && (without == nil || !without(instance)) {
			members = append(members, instance)
		}
	}
	return members
}

func ids(members []jobtree.Instance) []string {
	ids := make([]string, len(members))
	for i, member := range members {
		ids[i] = member.ID
	}
	return ids
}

// current is the assignment in force, of as many items as there are to be.
func current(s *jobtree.State, total int) sharding.Assignment {
	assignment := sharding.NewAssignment(total)
	for item := range assignment {
		assignment[item] = s.Owner(item)
	}
	return assignment
}

// guards are what a plan relies on: that its leader still leads, that nobody asked for another
// resharding or changed the settings meanwhile, that the assignment is the one that it changes, which
// also keeps a plan whose answer got lost from being carried out twice, and that every member is the
// one that was seen. There are as many as fit: one that joins asks for a resharding, which is
// guarded, and one that goes meanwhile is seen to have gone right after.
func guards(s *jobtree.State, members []jobtree.Instance, term registry.Revision, most int) []registry.Condition {
	tree := s.Tree()
	conditions := []registry.Condition{
		registry.CreatedAt(tree.Leader(), term),
		registry.Unchanged(tree.Necessary(), s.Necessary),
		registry.Unchanged(tree.Config(), s.Config.Revision),
		registry.Unchanged(tree.Epoch(), s.Epoch.Revision),
	}
	for _, member := range members[:min(len(members), most-len(conditions))] {
		conditions = append(conditions, registry.CreatedAt(tree.Instance(member.ID), member.Created))
	}
	return conditions
}

// move gives an item to an owner.
type move struct {
	item  int
	owner string
}

// moves lists what changes. An item that the tree does not name yet belongs to nobody and moves, too.
func moves(s *jobtree.State, wanted sharding.Assignment) []move {
	var moves []move
	for item, owner := range wanted {
		if s.Owner(item) != owner || s.Item(item).InstanceRevision == 0 {
			moves = append(moves, move{item, owner})
		}
	}
	return moves
}

func putOwners(tree jobtree.Tree, moves []move) []registry.Write {
	var writes []registry.Write
	for _, m := range moves {
		writes = append(writes, registry.Put(tree.ItemInstance(m.item), m.owner))
	}
	return writes
}

// parts write the new owners beside the old ones, for the epoch that is to come. A part that the registry
// carries out late, when its plan is given up, writes what nobody heeds; and it neither replaces what
// a later plan has written nor touches a later epoch.
func parts(s *jobtree.State, moves []move, epoch jobtree.EpochID, term registry.Revision) []registry.Txn {
	tree := s.Tree()
	var parts []registry.Txn
	for chunk := range slices.Chunk(moves, itemsPerPart) {
		part := registry.Txn{Repeat: registry.RepeatHarmless, If: []registry.Condition{
			registry.CreatedAt(tree.Leader(), term),
			registry.Unchanged(tree.Epoch(), s.Epoch.Revision),
		}}
		for _, m := range chunk {
			part.If = append(part.If, registry.Unchanged(tree.ItemNext(m.item), s.Item(m.item).Next.Revision))
			next := jobtree.EncodeNext(jobtree.Next{Epoch: epoch, Owner: m.owner})
			part.Then = append(part.Then, registry.Put(tree.ItemNext(m.item), next))
		}
		parts = append(parts, part)
	}
	return parts
}

// nextEpoch numbers an assignment by the revision that it was planned from. So the numbers of a term
// grow, and that of a plan that was abandoned halfway is not used again, or its parts would come into
// force with the new ones: even one that the registry carries out late, after all was tidied. For a
// plan of the same revision is the same plan, but for that of a leave, which has no parts: should one of the other
// plan come into force with it, its item belongs to who has left, and the next leader moves it.
func nextEpoch(s *jobtree.State, term registry.Revision, total int) jobtree.Epoch {
	return jobtree.Epoch{Term: term, Counter: int64(s.Revision), Total: total}
}
