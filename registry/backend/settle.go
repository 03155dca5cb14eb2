package backend

import (
	"errors"
	"fmt"

	"github.com/elasticron/elasticron/registry"
)

// Settle judges a transaction whose earlier try got no answer and whose later try was refused, so that
// all backends judge alike.
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
// earlier try just as well ([registry.ErrInvalid], [registry.ErrTooLarge], [registry.ErrDenied]) is
// returned as it is. Any other says nothing about the earlier try, and becomes
// [registry.ErrUnknownOutcome] with the refusal beside it as a cause.
func Settle(txn registry.Txn, refusal error, since registry.Revision, found []registry.Node) (registry.Revision, error) {
	if done := DoneAt(txn, since, found); done != 0 {
		return done, nil
	}
	var conflict *registry.ConflictError
	switch {
	case errors.As(refusal, &conflict):
		ambiguous := *conflict
		ambiguous.Ambiguous = true
		return 0, &ambiguous
	case errors.Is(refusal, registry.ErrInvalid), errors.Is(refusal, registry.ErrTooLarge), errors.Is(refusal, registry.ErrDenied):
		return 0, refusal
	default:
		return 0, fmt.Errorf("%w: an earlier try got no answer, a later one this: %w", registry.ErrUnknownOutcome, refusal)
	}
}

// DoneAt returns the revision at which found shows the transaction as done, by the rule of [Settle], or 0.
func DoneAt(txn registry.Txn, since registry.Revision, found []registry.Node) registry.Revision {
	at := make(map[string]registry.Node, len(found))
	for _, n := range found {
		at[n.Path] = n
	}
	var done registry.Revision
	for _, w := range txn.Then {
		switch w.Kind {
		case registry.WriteDelete, registry.WriteDeleteTree:
			if finds(w, at) {
				return 0
			}
		default:
			n := at[w.Path]
			if !leaves(w, n) || n.Revision <= since || done != 0 && n.Revision != done {
				return 0
			}
			done = n.Revision
		}
	}
	return done
}

// finds tells whether a node is there that the delete would have removed.
func finds(w registry.Write, at map[string]registry.Node) bool {
	if w.Kind == registry.WriteDelete {
		return at[w.Path].Exists()
	}
	for path := range at {
		if w.Touches(path) {
			return true
		}
	}
	return false
}

// leaves tells whether n is what the put or update would have left behind at its path, apart from revisions
// that only the store knows.
func leaves(w registry.Write, n registry.Node) bool {
	switch {
	case n.Value != w.Value:
		return false
	case w.Kind == registry.WritePut:
		return n.Exists() && !n.Ephemeral()
	case w.Kind == registry.WritePutOwned:
		return n.Created == n.Revision && n.Session == w.Session.ID()
	default:
		return n.Exists()
	}
}

// NotRepeated is the error of a transaction that got no answer, may have been done, and is not to be
// sent again. The cause is why there was no answer.
func NotRepeated(cause error) error {
	return fmt.Errorf("%w: a try got no answer, and a repeated one could be done twice: %w", registry.ErrUnknownOutcome, cause)
}
