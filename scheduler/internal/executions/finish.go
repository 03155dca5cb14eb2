package executions

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

// gatherEnds is how long the first of several ends waits for others, so that they share a request.
const gatherEnds = 2 * time.Millisecond

// Returned takes note that an execution's code has returned, or was given up.
func (x *Executions) Returned(e *Execution, at time.Time, err error) {
	if e.returned {
		return // given up before
	}
	e.returned, e.ended, e.err = true, at, err
	if e.started {
		x.active--
	}
	e.leaveScope()
	x.ended = append(x.ended, e)
	if len(x.ended) == 1 && x.active > 0 {
		x.endsGather = true
		time.AfterFunc(gatherEnds, func() { x.ports.Post(func() { x.endsGather = false }) })
	}
}

// Ending is what one decision ends.
type Ending struct {
	late  int  // ends that were recorded under another session than they began under
	again bool // some are to be tried again
}

// Decide proposes to record the ends of executions whose code has returned, all in one request, each by itself. When
// that was committed, [Executions.Settled] goes on. The ending is nil if nothing is to be recorded.
func (x *Executions) Decide(v room.View) (*Ending, room.Batch) {
	ended := x.gathered(v)
	if len(ended) == 0 {
		return nil, nil
	}
	ending, batch := &Ending{}, make(room.Batch, len(ended))
	for i, e := range ended {
		batch[i] = x.end(v, e, ending)
	}
	return ending, batch
}

// gathered returns the executions whose ends are to be recorded now (T5): once all have returned that run, or a
// moment after the first. Without a session they wait for the next one, under which they are recorded late:
// what has finished has finished, unless somebody declared it lost first.
func (x *Executions) gathered(v room.View) (batch []*Execution) {
	if len(x.ended) == 0 || x.endsGather && x.active > 0 {
		return nil
	}
	x.endsGather = false
	ended := x.ended
	x.ended = nil
	// Those that a lost session cancels return in one instant, in any order; their ends go in this one.
	slices.SortStableFunc(ended, func(a, b *Execution) int { return cmp.Compare(a.Item, b.Item) })
	for _, e := range ended {
		switch {
		case !e.Monitored():
			x.close(e, registry.Outcome{})
		case v.Attached.Lasts():
			batch = append(batch, e)
		case x.abandoned || errors.Is(e.Under.Session.Err(), registry.ErrClosed): // no session comes any more
			x.close(e, registry.Outcome{Err: e.noSession()})
		default:
			x.ended = append(x.ended, e)
		}
	}
	return batch
}

// end proposes to record the end of an execution. One that was refused is looked into at once: until that is
// settled, nothing else of its item runs here.
func (x *Executions) end(v room.View, e *Execution, ending *Ending) room.Proposal {
	txn := x.endTxn(v, e)
	if MarkGone(v, e) {
		txn = x.lateEndTxn(v, e, e.Token)
	}
	settle := func(o registry.Outcome) { x.settle(v, e, x.settleEnd(v, e, o), ending) }
	return room.Proposal{Step: "end", Txn: txn, Noted: true, Done: settle, Refused: func(err error) bool {
		settle(registry.Outcome{Err: err})
		return true
	}}
}

// settle takes in how an end went.
func (x *Executions) settle(v room.View, e *Execution, o registry.Outcome, ending *Ending) {
	switch {
	case room.Final(o.Err):
		if o.Err == nil && e.Under != v.Attached {
			ending.late++
		}
		x.close(e, o)
	case v.Attached.Lasts():
		x.ports.Tell(slog.LevelWarn, "end not recorded yet, will try again", o.Err, room.KeyItem, e.Item)
		x.ended, ending.again = append(x.ended, e), true
	case x.abandoned:
		x.close(e, o)
	default:
		x.ended = append(x.ended, e) // for the next session
	}
}

// Settled goes on when the ends have been committed.
func (x *Executions) Settled(ending *Ending) {
	if ending.late > 0 {
		x.ports.Log.InfoContext(x.ports.Life(), "recorded ends of executions that outlived their session", "items", ending.late)
	}
	if ending.again {
		x.endsGather = true
		time.AfterFunc(room.RetryAfter, func() { x.ports.Post(func() { x.endsGather = false }) })
	}
}

// MarkGone tells whether the state shows that the mark of an execution has vanished. It cannot come
// back: its creation is the token.
func MarkGone(v room.View, e *Execution) bool {
	return v.Applied >= e.Token && v.State.Item(e.Item).Running.Created != e.Token
}

// settleEnd finds out whether a refused end was done all the same. If its mark is not there, the record tells
// whether an earlier try, whose answer was lost, had been done; and if it still has the execution running,
// because only the mark was taken away, the end is recorded without it (T5b). If only somebody else has
// noted missed fires of the item meanwhile, those are kept, and the end is tried again, as it is when a node
// that it writes belonged to a foreign session; that node is removed.
func (x *Executions) settleEnd(v room.View, e *Execution, o registry.Outcome) registry.Outcome {
	under, refusal := v.Attached, o
	for range settleTries {
		var conflict *registry.ConflictError
		switch {
		case errors.Is(o.Err, registry.ErrOwned):
			if err := x.disown(v, e); err != nil {
				return registry.Outcome{Err: err}
			}
		case !errors.As(o.Err, &conflict):
			return o
		case conflict.Condition.Path == v.Tree.ItemMisfire(e.Item):
			if err := x.rereadMissed(v, e); err != nil {
				return registry.Outcome{Err: err}
			}
		case !aboutExecution(v, e, conflict.Condition):
			return o
		default:
			outcome, late := x.readEnd(v, e, refusal)
			if !late {
				return outcome
			}
			e.late = outcome.Revision
		}
		txn := x.endTxn(v, e)
		if e.late != 0 {
			txn = x.lateEndTxn(v, e, e.late)
		}
		o.Revision, o.Err = x.ports.Registry.Commit(under.Ctx, txn)
	}
	return o
}

// readEnd asks the record whether an end was done. late tells that it still has the execution running; the
// outcome's revision is then the record's.
func (x *Executions) readEnd(v room.View, e *Execution, refusal registry.Outcome) (o registry.Outcome, late bool) {
	node, err := x.ports.Registry.Get(v.Attached.Ctx, v.Tree.ItemRecord(e.Item))
	if errors.Is(err, registry.ErrNotFound) {
		return refusal, false
	}
	if err != nil {
		return registry.Outcome{Err: err}, false
	}
	record, err := jobtree.DecodeRecord(node)
	outcome, _ := record.Ended(int64(e.Token))
	switch {
	case err == nil && outcome == endRecord(v, e).Current.Outcome:
		return registry.Outcome{Revision: node.Revision}, false
	case err != nil || record.Token(node.Revision) != e.Token:
		return refusal, false
	default:
		return registry.Outcome{Revision: node.Revision}, true
	}
}

// rereadMissed reads what is noted as missed of an execution's item.
func (x *Executions) rereadMissed(v room.View, e *Execution) error {
	node, err := x.ports.Registry.Get(v.Attached.Ctx, v.Tree.ItemMisfire(e.Item))
	if err != nil && !errors.Is(err, registry.ErrNotFound) {
		return err
	}
	e.noted = &jobtree.Stored[jobtree.Misfire]{Revision: node.Revision}
	e.noted.Value, _ = jobtree.DecodeMisfire(node) // what cannot be read says nothing
	return nil
}

// disown removes the nodes that the end of an execution writes and that no session may own, where one does:
// a hand has replaced them, and what was there before is lost. What the end says of the item is known here.
func (x *Executions) disown(v room.View, e *Execution) error {
	for _, w := range x.endTxn(v, e).Then {
		if w.Kind != registry.WritePut {
			continue
		}
		node, err := x.ports.Registry.Get(v.Attached.Ctx, w.Path)
		if errors.Is(err, registry.ErrNotFound) || err == nil && !node.Ephemeral() {
			continue
		}
		if err == nil {
			_, err = x.removeUnder(v.Attached, w.Path, node.Revision)
		}
		if err != nil && !errors.Is(err, registry.ErrConflict) {
			return err
		}
		x.ports.Log.WarnContext(x.ports.Life(), "removed a node that a foreign session held: the end of an execution is written there", room.KeyItem, e.Item, "node", w.Path)
	}
	return x.rereadMissed(v, e)
}

// removeUnder deletes a node as it was seen at a revision.
func (x *Executions) removeUnder(a *room.Attachment, path string, seen registry.Revision) (registry.Revision, error) {
	return x.ports.Registry.Commit(a.Ctx, registry.Txn{
		If:   []registry.Condition{registry.Unchanged(path, seen)},
		Then: []registry.Write{registry.Delete(path)},
	})
}

// aboutExecution tells whether a condition asks if an execution still is the item's.
func aboutExecution(v room.View, e *Execution, c registry.Condition) bool {
	return c.Path == v.Tree.ItemRunning(e.Item) || c.Path == v.Tree.ItemRecord(e.Item)
}

// settleTries bounds how often the end of one execution is tried in a row. More than two are needed only
// if somebody rewrites the record meanwhile, which nobody who follows the protocol does.
const settleTries = 3

// endTxn is the transaction of an end (T5). The mark's creation is the token: an execution that was
// taken away cannot end the one that follows. What this clock ticked while the item ran here is noted with
// it, whoever owns the item by now.
func (x *Executions) endTxn(v room.View, e *Execution) registry.Txn {
	record := endRecord(v, e)
	txn := End(v.Tree, e.Item, e.Token, e.Context.Source, record)
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
	conditions, writes := x.ports.Missed(v, e.Item, *e.Due, noted, record.LastFire)
	txn.If, txn.Then = append(txn.If, conditions...), append(txn.Then, writes...)
	return txn
}

// makesUpItself tells whether what was missed while an execution ran need not be noted with its end. Beyond
// capacity every execution misses fires, and the item begins for them here as soon as its turn comes; two
// more writes for each would cost a fifth of what can run. Whoever gives the item up before that, or cannot run
// it any more, notes them then. After a crash others have ticked them; if nobody else lived, they are fires
// without a witness. Others may count on the note.
func (x *Executions) makesUpItself(v room.View, e *Execution) bool {
	return x.ports.Overloaded() && !x.ports.Others.CountOnNotes && v.Owns(e.Item) && !v.Leaving && e.Under == v.Attached && e.Under.Connected() && x.ports.MayBegin(v)
}

// lateEndTxn is the transaction of an end whose mark is gone (T5b): the record, as it was read, still
// says that this execution runs. So nobody declared it lost, and nobody began another one.
func (x *Executions) lateEndTxn(v room.View, e *Execution, asRead registry.Revision) registry.Txn {
	txn := x.endTxn(v, e)
	i := slices.Index(txn.If, Mark(v.Tree, e.Item, e.Token))
	txn.If[i] = registry.Unchanged(v.Tree.ItemRecord(e.Item), asRead)
	txn.Then = slices.DeleteFunc(txn.Then, func(w registry.Write) bool {
		return w.Path == v.Tree.ItemRunning(e.Item) || x.ports.Others.Borrow && w.Path == v.Tree.ItemFailover(e.Item) // another's by now
	})
	return txn
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
		})
	}
	if err != nil {
		// The record is the one that this execution began with, so the rules cannot object.
		panic("scheduler: end of a running record refused: " + err.Error())
	}
	return record
}

// outcome tells how an execution went. One that returns an error after its context was cancelled was
// cut short; one that succeeds all the same has succeeded.
func (e *Execution) outcome() (jobtree.Outcome, string) {
	switch {
	case e.err == nil:
		return jobtree.Success, ""
	case e.cutShort():
		return jobtree.Interrupted, context.Cause(e.Under.Work).Error() + ": " + e.err.Error()
	default:
		return jobtree.Failure, e.err.Error()
	}
}

// cutShort tells whether the code returned an error after its context had been cancelled.
func (e *Execution) cutShort() bool { return e.err != nil && e.Under.Work.Err() != nil }

// noSession tells why an end could not even be asked for.
func (e *Execution) noSession() error {
	if err := e.Under.Session.Err(); err != nil {
		return err
	}
	return stopping.ErrStopped
}

// close forgets an execution whose end was recorded or refused for good.
func (x *Executions) close(e *Execution, o registry.Outcome) {
	x.ports.Closed(e, o)
	x.reportEnd(e, o.Err)
	x.ports.Over(o)
}

func (x *Executions) reportEnd(e *Execution, refused error) {
	attrs := []any{room.KeyItem, e.Item, room.KeyFire, e.Context.Fire, room.KeySource, string(e.Context.Source), room.KeyToken, e.Context.Token}
	switch {
	case e.Undo: // whether or not that was recorded: nobody heard of its start
		x.ports.Tell(slog.LevelWarn, "item had begun and was not run: the confirmation came too late, or its turn did", nil, attrs...)
		if e.round != nil {
			x.leaveRound(e, refused)
		}
		return
	case room.Hopeless(refused):
		x.ports.Tell(slog.LevelError, "end refused: the registry does not take it, the item stays marked until the session ends", refused, attrs...)
	case refused != nil && e.cutShort():
		x.ports.Log.WarnContext(x.ports.Life(), "item was cut short, and taken away before that could be recorded", append(attrs, room.KeyError, e.err, room.KeyReason, refused.Error())...)
	case refused != nil:
		x.ports.Log.ErrorContext(x.ports.Life(), "item has finished, and its end could not be recorded: the execution was taken away",
			append(attrs, room.KeyError, refused)...)
	case e.err == nil:
		x.ports.Log.DebugContext(x.ports.Life(), "item done", attrs...)
	case e.cutByRound() || e.cutShort():
		x.ports.Log.WarnContext(x.ports.Life(), "item was cut short", append(attrs, room.KeyError, e.err)...)
	default:
		x.failed(e)
	}
	if e.started {
		run := e.run()
		run.Ended, run.Err, run.CutShort, run.Refused = e.ended, e.err, e.cutShort(), refused
		x.ports.Report.Item(run)
	}
	x.leaveRound(e, refused)
}
