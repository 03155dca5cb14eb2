package resharding

import (
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/sharding"
)

// mostOfLeave is how many conditions and writes a leave may have for a resharding to find room beside them.
const mostOfLeave = registry.MaxOps / 2

// PlanLeave plans the resharding that a leader's leave makes necessary: the plan's Txn is the leave and T3 in one, so that its
// items have other owners in the moment in which it is gone, and nobody has to be elected first. leave is the transaction of
// the leave alone: it deletes the leader's node and its instance, and asks for a resharding, which the plan's does not. ok is
// false if the leave has to go alone: nobody else is there to whom the items could be given, the state is not tidy or does not
// follow all items (what was lost of the others is not known, and has to be declared before they move), so many items move that
// the transaction has no room for them, or Java instances share the job, whose leaders have rules of their own. Instances for
// which without is true get no items. What moves in parts needs a leader who tidies up after it.
func PlanLeave(s *jobtree.State, strategy sharding.Strategy, term registry.Revision, leaver string, without func(jobtree.Instance) bool, leave registry.Txn) (plan Plan, ok bool, err error) {
	taken := len(leave.If) + len(leave.Then)
	if !s.KnowsAll() || s.SharedWithJava() || taken > mostOfLeave || len(Tidy(s, term)) > 0 {
		return Plan{}, false, nil
	}
	others := slices.DeleteFunc(members(s, without), func(i jobtree.Instance) bool { return i.ID == leaver })
	plan, err = planFor(s, strategy, term, others, nil, taken)
	if err != nil || len(others) == 0 || plan.Parts != nil {
		return Plan{}, false, err
	}
	done := []string{s.Tree().Leader(), s.Tree().Config(), s.Tree().Necessary()} // that the plan compares, and answers
	for _, c := range leave.If {
		if !slices.Contains(done, c.Path) {
			plan.Txn.If = append(plan.Txn.If, c)
		}
	}
	for _, w := range leave.Then {
		if w.Path != s.Tree().Necessary() {
			plan.Txn.Then = append(plan.Txn.Then, w)
		}
	}
	plan.Txn.Repeat = 0 // it ends itself: it deletes the leader's node of this term
	return plan, true, nil
}
