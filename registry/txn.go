package registry

import (
	"fmt"
	"slices"
)

// Txn is a guarded transaction: if all conditions hold, all writes are done, at one revision.
// Conditions and writes are judged and done together; there is no state in between.
//
// A path may stand in any number of conditions, but only in one write. A transaction needs a write.
type Txn struct {
	If   []Condition
	Then []Write

	// Turn says when it is sent while others wait, and until when it makes sense at all.
	Turn Turn

	// Repeat says why the transaction may be sent again after a try that got no answer, where its
	// conditions do not say so themselves. A Committer repeats those that are [Txn.Repeatable].
	Repeat Repeat
}

// MaxOps is how many conditions a transaction may have, and how many writes, for every backend to take it. A put counts as
// one more condition, by which a store judges that its session may write the node, and the removal of a subtree as two
// writes. Beyond, it may be [ErrTooLarge].
const MaxOps = 128

// Check tells whether the transaction is well-formed: its paths are, no path is written twice, no
// write lies below a subtree that another one deletes, and there is a write. The error is
// [ErrInvalid]. It also refuses a word why the transaction may be repeated that its conditions and
// writes belie. Backends call it before they send anything.
func (t Txn) Check() error {
	if len(t.Then) == 0 {
		return fmt.Errorf("%w: transaction without a write", ErrInvalid)
	}
	for _, c := range t.If {
		if err := c.check(); err != nil {
			return err
		}
	}
	written := make(map[string]bool, len(t.Then))
	var trees []string
	for _, w := range t.Then {
		if err := w.check(); err != nil {
			return err
		}
		if written[w.Path] {
			return fmt.Errorf("%w: path %q is written twice in one transaction", ErrInvalid, w.Path)
		}
		written[w.Path] = true
		if w.Kind == WriteDeleteTree {
			trees = append(trees, w.Path)
		}
	}
	for _, root := range trees {
		for path := range written {
			if path != root && Within(path, root) {
				return fmt.Errorf("%w: path %q is written below %q, which the same transaction deletes", ErrInvalid, path, root)
			}
		}
	}
	return t.checkRepeat()
}

// Guards returns the conditions that the transaction states, and after them those that its writes
// imply: a node put in a session must be absent, an updated one present. Backends judge these.
func (t Txn) Guards() []Condition {
	guards := t.If[:len(t.If):len(t.If)]
	for i, w := range t.Then {
		var implied Condition
		switch w.Kind {
		case WritePutOwned:
			implied = Absent(w.Path)
		case WriteUpdate:
			implied = Present(w.Path)
		default:
			continue
		}
		if implies(guards, implied) {
			continue
		}
		if len(guards) == cap(guards) { // room for all that can come
			guards = append(make([]Condition, 0, len(guards)+len(t.Then)-i), guards...)
		}
		guards = append(guards, implied)
	}
	return guards
}

// implies tells whether conditions say what another one does.
func implies(conditions []Condition, c Condition) bool {
	return slices.ContainsFunc(conditions, func(old Condition) bool {
		present := old.Kind == CondUnchanged || old.Kind == CondCreatedAt
		return old == c || present && c.Kind == CondPresent && old.Path == c.Path
	})
}
