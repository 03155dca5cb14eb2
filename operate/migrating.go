package operate

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// migrating refuses to have a job run that elasticron migrate keeps from running, because it runs in another registry, or
// is about to. Enabling a server does the same where Java instances go by servers alone. The decision then relies on how far that is. Force consents, for a move that nobody goes on with.
func (w *world) migrating(d *decision) *Refusal {
	n := w.snapshot.Get(w.tree.Move())
	d.compare = append(d.compare, w.asRead(w.tree.Move()))
	r := (*Refusal)(nil)
	switch mark, err := jobtree.DecodeMove(n); {
	case err != nil:
		r = refuse(CauseUnreadable, "look at the node", "how far its move to another registry is cannot be read")
		r.Err = err
	case mark.State == jobtree.MovePrepared:
		r = refuse(CausePending, "have it run here with elasticron migrate move, which goes on where it stopped, or take it back with elasticron migrate return",
			"it is being moved here since %s, and the registry that it leaves runs it", since(mark))
	case mark.State == jobtree.MoveDrained:
		r = refuse(CausePending, "go on with elasticron migrate move, and operate the job where it goes, or take it back with elasticron migrate return",
			"it was stopped at %s to be moved to another registry, which may run it already", since(mark))
	case mark.State == jobtree.MoveReturning:
		r = refuse(CausePending, "go on with elasticron migrate return, and operate the job there; elasticron migrate move brings it here again after that",
			"it is being taken back since %s to the registry from which it came", since(mark))
	case mark.State == jobtree.MoveConfirmed:
		r = refuse(CausePending, "operate it there, and remove it here", "it was moved to another registry, which was confirmed at %s", since(mark))
	default: // it runs here, or was taken back
		return nil
	}
	if w.force {
		d.warn("it may run in two registries at once: " + r.Why)
		return nil
	}
	r.Forcible = true
	return r
}

func since(mark jobtree.MoveMark) string { return mark.When.Format(time.RFC3339) }
