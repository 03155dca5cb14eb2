package operate

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/registry"
)

// migrating refuses to have a job run that elasticron migrate keeps from running, because it runs in another registry, or
// is about to. Enabling a server does the same where Java instances go by servers alone. The decision then relies on how far
// that is. Force consents, for a move that nobody goes on with.
func (w *world) migrating(d *decision) *Refusal {
	_, r := w.move(d)
	return w.consented(d, r, "it may run in two registries at once")
}

// removable refuses to remove a job in the middle of such a move, which goes on and back by what is stored here. Where it
// was moved away for good, or has gone back, it may be removed.
func (w *world) removable(d *decision) *Refusal {
	state, r := w.move(d)
	switch state {
	case jobtree.MoveConfirmed, jobtree.MoveReturned:
		return nil
	case jobtree.MoveMoved, jobtree.MoveConfirming:
		d.warn("it was moved here, and that is not confirmed: the registry from which it came keeps its job disabled, and when it is gone here, it runs nowhere until " +
			"elasticron migrate return --target-lost takes it back there")
	}
	return w.consented(d, r, "its move to another registry can be neither completed nor taken back")
}

// disabledToMove refuses to disable what elasticron migrate disables itself until the job has arrived. There it is as it was
// before the move, whatever is written down here: who heard that it is disabled already would take it for stopped. Each step of
// the move writes the configuration, too, so that comparing that is enough.
func (w *world) disabledToMove() *Refusal {
	state, r := held(w.snapshot.Get(w.tree.Move()))
	switch state {
	case jobtree.MovePrepared, jobtree.MoveDrained, jobtree.MoveReturning:
		r.Why += "; it is disabled for that alone, and will be as before the move where it comes to run"
		r.Do = "disable it there when it has arrived; elasticron migrate move brings it to its target, and elasticron migrate return takes it back"
		return r
	}
	return nil
}

// leftFor is the mark of a confirmed move, which has left the job here, disabled; the zero mark is none. By it the job comes back
// one day, with the servers that the move alone has disabled, and without those that operators have.
func (w *world) leftFor() jobtree.MoveMark {
	mark, err := jobtree.DecodeMove(w.snapshot.Get(w.tree.Move()))
	if err != nil || mark.State != jobtree.MoveConfirmed {
		return jobtree.MoveMark{} // by one that cannot be read, nothing comes back
	}
	return mark
}

// keepDisabled has the mark of a confirmed move say that an operator has disabled a server.
func (w *world) keepDisabled(d *decision, ip string) *Refusal {
	path := w.tree.Move()
	text, err := jobtree.KeepDisabled(w.snapshot.Get(path).Value, ip)
	if err != nil {
		r := refuse(CauseUnreadable, "look at the node", "which servers its move has disabled cannot be read")
		r.Err = err
		return r
	}
	d.compare, d.write = append(d.compare, w.asRead(path)), append(d.write, registry.Put(path, text))
	return nil
}

// consented turns a refusal into a warning if the operator forces the operation.
func (w *world) consented(d *decision, r *Refusal, risk string) *Refusal {
	switch {
	case r == nil:
		return nil
	case w.force:
		d.warn(risk + ": " + r.Why)
		return nil
	}
	r.Forcible = true
	return r
}

// move tells how far elasticron migrate is with the job, and refuses unless it runs here, or nothing is known of a move.
func (w *world) move(d *decision) (state string, r *Refusal) {
	d.compare = append(d.compare, w.asRead(w.tree.Move()))
	return held(w.snapshot.Get(w.tree.Move()))
}

// held tells from the node of [jobtree.Tree.Move] how far elasticron migrate is with a job, and why the job does not run
// here; nil if it does.
func held(n registry.Node) (state string, r *Refusal) {
	mark, err := jobtree.DecodeMove(n)
	switch {
	case err != nil:
		r = refuse(CauseUnreadable, "look at the node", "how far its move to another registry is cannot be read")
		r.Err = err
	case mark.State == jobtree.MovePrepared:
		r = refuse(CausePending, "have it run here with elasticron migrate move, which goes on where it stopped, or take it back with elasticron migrate return; "+ifSourceLost,
			"it is being moved here since %s, and the registry that it leaves runs it", since(mark))
	case mark.State == jobtree.MoveDrained:
		r = refuse(CausePending, "go on with elasticron migrate move, and operate the job where it goes, or take it back with elasticron migrate return; "+ifTargetLost,
			"it was stopped at %s to be moved to another registry, which may run it already", since(mark))
	case mark.State == jobtree.MoveReturning:
		r = refuse(CausePending, "go on with elasticron migrate return, and operate the job there; elasticron migrate move brings it here again after that; "+ifSourceLost,
			"it is being taken back since %s to the registry from which it came", since(mark))
	case mark.State == jobtree.MoveConfirmed:
		r = refuse(CausePending, "operate it there, and remove it here; "+ifTargetLost, "it was moved to another registry, which was confirmed at %s", since(mark))
	case mark.State == jobtree.MoveReturned && mark.Away:
		r = refuse(CausePending, "operate it there; elasticron migrate move brings it here again; "+ifSourceLost, "it has returned at %s to the registry from which it came", since(mark))
	case mark.State == jobtree.MoveMoved, mark.State == jobtree.MoveConfirming, mark.State == jobtree.MoveReturned, mark.State == "":
	default:
		r = refuse(CauseNewer, "use the version of elasticron migrate that moves it",
			"how far its move to another registry is, is not known to this version: %q", texts.Shorten(mark.State))
	}
	return mark.State, r
}

// How a move ends whose other registry nobody can ask any more.
const (
	ifTargetLost = "if that registry is gone for good, elasticron migrate return --target-lost --job NAME takes it back without"
	ifSourceLost = "if that registry is gone for good, elasticron migrate confirm --source-lost --job NAME ends the move without"
)

func since(mark jobtree.MoveMark) string { return mark.When.Format(time.RFC3339) }
