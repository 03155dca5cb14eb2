package executions

import (
	"cmp"
	"context"
	"slices"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Mark is the condition that the mark of an execution still stands. The mark's creation is the token, so an
// execution that was taken away cannot end the one that follows.
func Mark(tree jobtree.Tree, item int, token registry.Revision) registry.Condition {
	return registry.CreatedAt(tree.ItemRunning(item), token)
}

// End is the part of an end that every ending of an execution has; record is that after the execution, and source
// why it ran.
func End(s *jobtree.State, item int, token registry.Revision, source job.Source, record jobtree.Record) registry.Txn {
	tree := s.Tree()
	mark := Mark(tree, item, token)
	txn := registry.Txn{
		If: []registry.Condition{mark},
		Then: []registry.Write{
			registry.Delete(mark.Path),
			registry.Overwrite(tree.ItemRecord(item), jobtree.EncodeRecord(record)),
		},
	}
	if source == job.Failover {
		txn.Then = append(txn.Then, s.Unclaim(item)...)
	}
	if record.State == jobtree.ItemWaiting {
		txn.Then = append(txn.Then, registry.Put(tree.FailoverItem(item), ""))
	}
	return txn
}

// endTxn is the transaction of an end (T5). The mark's creation is the token: an execution that was
// taken away cannot end the one that follows. What this clock ticked while the item ran here is noted with
// it, whoever owns the item by now.
func (x *Executions) endTxn(v room.View, e *Execution) registry.Txn {
	record := endRecord(v, e)
	txn := End(v.State, e.Item, e.Token, e.Context.Source, record)
	if write, unsaved := e.progress.last(); unsaved {
		txn.Then = append(txn.Then, write)
	}
	if x.makesUpItself(v, e) {
		return txn
	}
	noted := v.State.Item(e.Item).Misfire
	switch {
	case e.noted != nil: // it was refused over what the state showed
		noted = *e.noted
	case e.MadeUp && v.Applied < e.Token: // the state still shows what its begin removed
		noted = jobtree.Stored[jobtree.Misfire]{}
	}
	conditions, writes := x.rounds.NoteAtEnd(v, e.Item, *e.Due, noted, record.LastFire)
	txn.If, txn.Then = append(txn.If, conditions...), append(txn.Then, writes...)
	return txn
}

// makesUpItself tells whether what was missed while an execution ran need not be noted with its end. Beyond
// capacity every execution misses fires, and the item begins for them here as soon as its turn comes; two
// more writes for each would cost a fifth of what can run. Whoever gives the item up before that, or cannot run
// it any more, notes them then. After a crash others have ticked them; if nobody else lived, they are fires
// without a witness. Others may count on the note.
func (x *Executions) makesUpItself(v room.View, e *Execution) bool {
	return x.ports.Overloaded() && !x.ports.Traits().CountOnNotes && v.Owns(e.Item) && !v.Leaving && e.Under == v.Attached && e.Under.Connected() && x.rounds.MayBegin(v)
}

// lateEndTxn is the transaction of an end whose mark is gone (T5b): the record, as it was read, still
// says that this execution runs. So nobody declared it lost, and nobody of ours began another one. If it is to be run
// again, a Java instance must not have claimed that: what it claims it runs, and its claim is all that tells. A claim of an
// earlier session of ours is gone with the mark, even if the state still shows it.
func (x *Executions) lateEndTxn(v room.View, e *Execution, asRead registry.Revision) registry.Txn {
	txn := x.endTxn(v, e)
	i := slices.Index(txn.If, Mark(v.Tree, e.Item, e.Token))
	txn.If[i] = registry.Unchanged(v.Tree.ItemRecord(e.Item), asRead)
	txn.Then = slices.DeleteFunc(txn.Then, func(w registry.Write) bool {
		claim := w.Path == v.Tree.ItemFailover(e.Item) || w.Path == v.Tree.ItemFailovering(e.Item)
		return w.Path == v.Tree.ItemRunning(e.Item) || x.ports.Traits().Borrow && claim // another's by now
	})
	if x.ports.Traits().Borrow && asksForRerun(v, e, txn) && (e.Under != v.Attached || v.State.Item(e.Item).Failover.Session != e.Under.Session.ID()) {
		txn.If = append(txn.If, registry.Absent(v.Tree.ItemFailover(e.Item)))
	}
	return txn
}

// asksForRerun tells whether the end of an execution asks others to run it again.
func asksForRerun(v room.View, e *Execution, end registry.Txn) bool {
	return slices.ContainsFunc(end.Then, func(w registry.Write) bool { return w.Path == v.Tree.FailoverItem(e.Item) })
}

// endRecord returns the record after the execution.
func endRecord(v room.View, e *Execution) jobtree.Record {
	var record jobtree.Record
	var err error
	if e.Undo {
		record, err = e.Record.Undo(int64(e.Token), e.ended)
	} else {
		outcome, text := e.outcome()
		record, err = e.Record.End(jobtree.End{
			Token: int64(e.Token), Time: e.ended, Outcome: outcome, Error: text, FailoverLimit: v.FailoverLimit(),
			Yielded: e.yielded, RestIsOver: e.rest != restRuns,
		})
	}
	if err != nil {
		// The record is the one that this execution began with, so the rules cannot object.
		panic("scheduler: end of a running record refused: " + err.Error())
	}
	return record
}

// outcome tells how an execution went. One that returns an error after its context was cancelled was
// cut short; one that succeeds all the same has succeeded. One that failed before has failed. One that made room as it was told
// to was interrupted, also if its context ended meanwhile.
func (e *Execution) outcome() (jobtree.Outcome, string) {
	switch {
	case e.err == nil:
		return jobtree.Success, ""
	case e.yielded:
		return jobtree.Interrupted, e.err.Error()
	case e.cut != nil:
		return jobtree.Interrupted, e.cut.Error() + ": " + e.err.Error()
	default:
		return jobtree.Failure, e.err.Error()
	}
}

// cutBefore returns what has cut the code short that returns an error now; nil if nothing has. That the session is over, the
// code may have heard by a checkpoint, a moment before its context is cancelled.
func (e *Execution) cutBefore(err error) error {
	if err == nil {
		return nil
	}
	return cmp.Or(context.Cause(e.Under.Work), context.Cause(e.Under.Ctx), e.Under.Session.Err())
}

// MarkGone tells whether the state shows that the mark of an execution has vanished. It cannot come
// back: its creation is the token. Of an item that is not followed the state shows nothing.
func MarkGone(v room.View, e *Execution) bool {
	it := v.State.Item(e.Item)
	return v.State.Knows(e.Item) && v.Applied >= e.Token && it.Running.Created != e.Token && it.Remains.Created != e.Token
}
