package registry

import "fmt"

// Repeat is a builder's word why its transaction may be sent again after a try that got no answer.
//
// A store may carry out a request long after everybody stopped waiting for it: a server that lost
// touch with the others passes on what it holds when it is back. So if a transaction was sent
// twice, the store may do the first copy after it answered the second, and after any number of other
// transactions. Repeating is right only where that late copy comes to nothing. Where one of the
// transaction's conditions proves that by itself, no word is needed; see [Txn.EndsItself].
type Repeat uint8

// The words. A transaction that has none, and does not end itself, is not repeated: after a try that
// may have been done it fails with [ErrUnknownOutcome].
const (
	// RepeatCreation: the transaction creates a node that it wants to be absent, and nobody removes
	// that node without making another of its conditions false for good, before or with the removal.
	// There must be such a condition: [Unchanged] or [CreatedAt] of another node.
	RepeatCreation Repeat = iota + 1
	// RepeatOwned: the transaction puts a node in a session, which a late copy puts again only while
	// the session lasts. Its process deletes, or answers for, every node that it finds under its
	// session. What the transaction writes besides does no harm when it is written again with it.
	RepeatOwned
	// RepeatHarmless: done again at any later time, the transaction does no harm, because it only
	// deletes what its conditions say nobody needs, or asks for what anybody may ask for at any time.
	RepeatHarmless
)

// String names the word.
func (r Repeat) String() string {
	switch r {
	case 0:
		return "none"
	case RepeatCreation:
		return "creation"
	case RepeatOwned:
		return "owned"
	case RepeatHarmless:
		return "harmless"
	default:
		return fmt.Sprintf("repeat %d", uint8(r))
	}
}

// Repeatable tells whether the transaction may be sent again after a try that may have been done.
func (t Txn) Repeatable() bool { return t.Repeat != 0 || t.EndsItself() }

// EndsItself tells whether the transaction, once it is done, has made one of its own conditions false
// for good, so that no copy of it can ever be done again: it writes a node that it wants [Unchanged],
// or deletes one that it wants [CreatedAt] a revision. Revisions do not come back. An absence may: the
// node that the transaction creates may be deleted again.
func (t Txn) EndsItself() bool {
	for _, c := range t.If {
		for _, w := range t.Then {
			if c.endedBy(w) {
				return true
			}
		}
	}
	return false
}

// endedBy tells whether the write makes the condition false for good.
func (c Condition) endedBy(w Write) bool {
	switch c.Kind {
	case CondUnchanged:
		return w.Touches(c.Path)
	case CondCreatedAt:
		return w.deletes() && w.Touches(c.Path)
	default:
		return false
	}
}

// checkRepeat refuses a word that the transaction itself belies.
func (t Txn) checkRepeat() error {
	if t.EndsItself() {
		return nil
	}
	switch t.Repeat {
	case 0, RepeatHarmless:
		return nil
	case RepeatCreation:
		if !t.creates() {
			return fmt.Errorf("%w: a transaction that is repeated as a creation must put a node that it wants absent", ErrInvalid)
		}
		for _, c := range t.If {
			if c.Kind == CondUnchanged || c.Kind == CondCreatedAt {
				return nil
			}
		}
		return fmt.Errorf("%w: a transaction that is repeated as a creation needs a condition on a revision, which whoever removes the node ends", ErrInvalid)
	case RepeatOwned:
		for _, w := range t.Then {
			if w.Kind == WritePutOwned {
				return nil
			}
		}
		return fmt.Errorf("%w: a transaction that is repeated as owned must put a node in a session", ErrInvalid)
	default:
		return fmt.Errorf("%w: transaction with the unknown word %d why it may be repeated", ErrInvalid, t.Repeat)
	}
}

// creates tells whether the transaction puts a node that it wants to be absent.
func (t Txn) creates() bool {
	for _, c := range t.Guards() {
		for _, w := range t.Then {
			if c.Kind == CondAbsent && !w.deletes() && w.Path == c.Path {
				return true
			}
		}
	}
	return false
}
