package registry

import (
	"errors"
	"fmt"
)

// Settle judges a transaction of which an earlier try got no answer and a later try was refused. It
// is for backends, so that all of them judge alike.
//
// refusal is the answer to the later try. since is any revision that the store had reached before
// the first try was sent. found are the nodes that the store showed together with the refusal, at
// one revision, at and below the paths that the transaction writes; others in it do no harm.
//
// The earlier try was done if every node that the transaction puts is there as it was put, all of
// them changed by one and the same commit after since, and every node that it deletes is absent.
// Settle then returns that commit's revision and no error. A transaction that only deletes leaves
// nothing to recognise it by, and is never taken for done. Nor can two writers be told apart who put
// the same values under the same conditions: what must be told apart should carry its writer in a
// value or be owned by a session.
//
// Otherwise the conflict is returned as one that is ambiguous. A refusal that would have met the
// earlier try just as well ([ErrInvalid], [ErrTooLarge], [ErrDenied]) is returned as it is. Any
// other says nothing about the earlier try, and becomes [ErrUnknownOutcome] with the refusal beside
// it as a cause.
func Settle(txn Txn, refusal error, since Revision, found []Node) (Revision, error) {
	if done := doneAt(txn, since, found); done != 0 {
		return done, nil
	}
	var conflict *ConflictError
	switch {
	case errors.As(refusal, &conflict):
		ambiguous := *conflict
		ambiguous.Ambiguous = true
		return 0, &ambiguous
	case errors.Is(refusal, ErrInvalid), errors.Is(refusal, ErrTooLarge), errors.Is(refusal, ErrDenied):
		return 0, refusal
	default:
		return 0, fmt.Errorf("%w: an earlier try got no answer, a later one this: %w", ErrUnknownOutcome, refusal)
	}
}

// doneAt returns the revision at which found shows the transaction as done, or 0.
func doneAt(txn Txn, since Revision, found []Node) Revision {
	at := make(map[string]Node, len(found))
	for _, n := range found {
		at[n.Path] = n
	}
	var done Revision
	for _, w := range txn.Then {
		if w.deletes() {
			if finds(w, at) {
				return 0
			}
			continue
		}
		n := at[w.Path]
		if !w.left(n) || n.Revision <= since || done != 0 && n.Revision != done {
			return 0
		}
		done = n.Revision
	}
	return done
}

// finds tells whether a node is there that the delete would have removed.
func finds(w Write, at map[string]Node) bool {
	if w.Kind == WriteDelete {
		return at[w.Path].Exists()
	}
	for path := range at {
		if w.Touches(path) {
			return true
		}
	}
	return false
}
