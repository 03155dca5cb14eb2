package scheduler

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// gatherEnds is how long the first of several ends waits for others, so that they share a request.
const gatherEnds = 2 * time.Millisecond

// returned takes note that an execution's code has returned, or was given up.
func (r *runner) returned(e *execution, at time.Time, err error) {
	if e.returned {
		return // given up before
	}
	e.returned, e.ended, e.err = true, at, err
	if e.started {
		r.active--
	}
	e.leaveScope()
	r.ended = append(r.ended, e)
	if len(r.ended) == 1 && r.active > 0 {
		r.endsGather = true
		time.AfterFunc(gatherEnds, func() { r.box.Post(func() { r.endsGather = false }) })
	}
}

// finish commits the ends of executions whose code has returned (T5): once all have that run, or a
// moment after the first. Without a session they wait for the next one, under which they are told late:
// what has finished has finished, unless somebody declared it lost first.
func (r *runner) finish() {
	if len(r.ended) == 0 || r.endsGather && r.active > 0 {
		return
	}
	r.endsGather = false
	ended := r.ended
	r.ended = nil
	// Those that a lost session cancels return in one instant, in any order; their ends go in this one.
	slices.SortStableFunc(ended, func(a, b *execution) int { return cmp.Compare(a.item, b.item) })
	var batch []*execution
	for _, e := range ended {
		switch {
		case !e.monitored():
			r.close(e, registry.Outcome{})
		case r.attached.Lasts():
			batch = append(batch, e)
		case r.abandoned || errors.Is(e.under.Session.Err(), registry.ErrClosed): // no session comes any more
			r.close(e, registry.Outcome{Err: e.noSession()})
		default:
			r.ended = append(r.ended, e)
		}
	}
	if len(batch) > 0 {
		r.commitEnds(batch)
	}
}

func (r *runner) commitEnds(batch []*execution) {
	txns := make([]registry.Txn, len(batch))
	for i, e := range batch {
		txns[i] = r.endTxn(e)
		if r.markGone(e) {
			txns[i] = r.lateEndTxn(e, e.token)
		}
	}
	under, late, again := r.attached, 0, false
	for i, o := range r.s.registry.CommitAll(under.Ctx, txns) {
		e := batch[i]
		o = r.settleEnd(under, e, o)
		switch {
		case room.Final(o.Err):
			if o.Err == nil && e.under != under {
				late++
			}
			r.close(e, o)
		case under.Lasts():
			r.s.repeated(slog.LevelWarn, "end not recorded yet, will try again", r.name, o.Err, logItem, e.item)
			r.ended, again = append(r.ended, e), true
		case r.abandoned:
			r.close(e, o)
		default:
			r.ended = append(r.ended, e) // for the next session
		}
	}
	if late > 0 {
		r.log.InfoContext(r.life, "recorded ends of executions that outlived their session", "items", late)
	}
	if again {
		r.endsGather = true
		time.AfterFunc(retryAfter, func() { r.box.Post(func() { r.endsGather = false }) })
	}
}

// markGone tells whether the state shows that the mark of an execution has vanished. It cannot come
// back: its creation is the token.
func (r *runner) markGone(e *execution) bool {
	return r.applied >= e.token && r.state.Item(e.item).Running.Created != e.token
}

// settleEnd finds out what became of an end that was refused. If its mark is not there, the record tells
// whether an earlier try, whose answer was lost, had been done; and if it still has the execution running,
// because only the mark was taken away, the end is recorded without it (T5b). If only somebody else has
// noted missed fires of the item meanwhile, those are kept, and the end is tried again; so it is when a node
// that it writes was a foreign session's, which is removed.
func (r *runner) settleEnd(under *room.Attachment, e *execution, o registry.Outcome) registry.Outcome {
	refusal := o
	for range settleTries {
		var conflict *registry.ConflictError
		switch {
		case errors.Is(o.Err, registry.ErrOwned):
			if err := r.disown(under, e); err != nil {
				return registry.Outcome{Err: err}
			}
		case !errors.As(o.Err, &conflict):
			return o
		case conflict.Condition.Path == r.tree.ItemMisfire(e.item):
			if err := r.rereadMissed(under, e); err != nil {
				return registry.Outcome{Err: err}
			}
		case !r.aboutExecution(e, conflict.Condition):
			return o
		default:
			outcome, late := r.readEnd(under, e, refusal)
			if !late {
				return outcome
			}
			e.late = outcome.Revision
		}
		txn := r.endTxn(e)
		if e.late != 0 {
			txn = r.lateEndTxn(e, e.late)
		}
		o.Revision, o.Err = r.s.registry.Commit(under.Ctx, txn)
	}
	return o
}

// readEnd asks the record what became of an end. late tells that it still has the execution running; the
// outcome's revision is then the record's.
func (r *runner) readEnd(under *room.Attachment, e *execution, refusal registry.Outcome) (o registry.Outcome, late bool) {
	node, err := r.s.registry.Get(under.Ctx, r.tree.ItemRecord(e.item))
	if errors.Is(err, registry.ErrNotFound) {
		return refusal, false
	}
	if err != nil {
		return registry.Outcome{Err: err}, false
	}
	record, err := jobtree.DecodeRecord(node)
	outcome, _ := record.Ended(int64(e.token))
	switch {
	case err == nil && outcome == r.endRecord(e).Current.Outcome:
		return registry.Outcome{Revision: node.Revision}, false
	case err != nil || record.Token(node.Revision) != e.token:
		return refusal, false
	default:
		return registry.Outcome{Revision: node.Revision}, true
	}
}

// rereadMissed reads what is noted as missed of an execution's item.
func (r *runner) rereadMissed(under *room.Attachment, e *execution) error {
	node, err := r.s.registry.Get(under.Ctx, r.tree.ItemMisfire(e.item))
	if err != nil && !errors.Is(err, registry.ErrNotFound) {
		return err
	}
	e.noted = &jobtree.Stored[jobtree.Misfire]{Revision: node.Revision}
	e.noted.Value, _ = jobtree.DecodeMisfire(node) // what cannot be read says nothing
	return nil
}

// disown removes the nodes that the end of an execution writes and that no session may own, where one does:
// a hand has replaced them, and what was there before is lost. What the end says of the item is known here.
func (r *runner) disown(under *room.Attachment, e *execution) error {
	for _, w := range r.endTxn(e).Then {
		if w.Kind != registry.WritePut {
			continue
		}
		node, err := r.s.registry.Get(under.Ctx, w.Path)
		if errors.Is(err, registry.ErrNotFound) || err == nil && !node.Ephemeral() {
			continue
		}
		if err == nil {
			_, err = r.removeUnder(under, w.Path, node.Revision)
		}
		if err != nil && !errors.Is(err, registry.ErrConflict) {
			return err
		}
		r.log.WarnContext(r.life, "removed a node that a foreign session held: the end of an execution is written there", logItem, e.item, "node", w.Path)
	}
	return r.rereadMissed(under, e)
}

// removeUnder deletes a node as it was seen at a revision.
func (r *runner) removeUnder(a *room.Attachment, path string, seen registry.Revision) (registry.Revision, error) {
	return r.s.registry.Commit(a.Ctx, registry.Txn{
		If:   []registry.Condition{registry.Unchanged(path, seen)},
		Then: []registry.Write{registry.Delete(path)},
	})
}

// aboutExecution tells whether a condition asks if an execution still is the item's.
func (r *runner) aboutExecution(e *execution, c registry.Condition) bool {
	return c.Path == r.tree.ItemRunning(e.item) || c.Path == r.tree.ItemRecord(e.item)
}

// settleTries bounds how often the end of one execution is tried in a row. More than two are needed only
// if somebody rewrites the record meanwhile, which nobody does who goes by the protocol.
const settleTries = 3

// endTxn is the transaction of an end (T5). The mark's creation is the token: an execution that was
// taken away cannot end the one that follows. What this clock ticked while the item ran here is noted with
// it, whoever owns the item by now.
func (r *runner) endTxn(e *execution) registry.Txn {
	record := r.endRecord(e)
	txn := executions.End(r.tree, e.item, e.token, e.context.Source, record)
	if write, unsaved := e.progress.last(); unsaved {
		txn.Then = append(txn.Then, write)
	}
	if r.makesUpItself(e) {
		return txn
	}
	noted := r.state.Item(e.item).Misfire
	switch {
	case e.noted != nil: // it was refused over what the state showed
		noted = *e.noted
	case e.madeUp && r.applied < e.token: // the state still shows what its begin removed
		noted = jobtree.Stored[jobtree.Misfire]{}
	}
	conditions, writes := r.missed.Note(r.look(), e.item, r.item(e.item).Due, noted, record.LastFire)
	txn.If, txn.Then = append(txn.If, conditions...), append(txn.Then, writes...)
	return txn
}

// makesUpItself tells whether what was missed while an execution ran need not be noted with its end. Beyond
// capacity every execution misses fires, and the item begins for them here as soon as its turn comes; two
// more writes for each would cost a fifth of what can run. Who gives the item up before that, or cannot run
// it any more, notes them then. After a crash others have ticked them; if nobody else lived, they are fires
// without a witness. Others may count on the note.
func (r *runner) makesUpItself(e *execution) bool {
	return r.s.load.over() && !r.s.traits.CountOnNotes && r.owns(e.item) && !r.leaving && e.under == r.attached && e.under.Connected() && r.mayBegin()
}

// lateEndTxn is the transaction of an end whose mark is gone (T5b): the record, as it was read, still
// says that this execution runs. So nobody declared it lost, and nobody began another one.
func (r *runner) lateEndTxn(e *execution, asRead registry.Revision) registry.Txn {
	txn := r.endTxn(e)
	i := slices.Index(txn.If, executions.Mark(r.tree, e.item, e.token))
	txn.If[i] = registry.Unchanged(r.tree.ItemRecord(e.item), asRead)
	txn.Then = slices.DeleteFunc(txn.Then, func(w registry.Write) bool {
		return w.Path == r.tree.ItemRunning(e.item) || r.s.traits.Borrow && w.Path == r.tree.ItemFailover(e.item) // another's by now
	})
	return txn
}

// endRecord returns the record after the execution.
func (r *runner) endRecord(e *execution) jobtree.Record {
	var record jobtree.Record
	var err error
	if e.undo {
		record, err = e.record.Undo(int64(e.token), e.ended)
	} else {
		outcome, text := e.outcome()
		record, err = e.record.End(jobtree.End{
			Token: int64(e.token), Time: e.ended, Outcome: outcome, Error: text, FailoverLimit: r.look().FailoverLimit(),
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
func (e *execution) outcome() (jobtree.Outcome, string) {
	switch {
	case e.err == nil:
		return jobtree.Success, ""
	case e.cutShort():
		return jobtree.Interrupted, context.Cause(e.under.Work).Error() + ": " + e.err.Error()
	default:
		return jobtree.Failure, e.err.Error()
	}
}

// cutShort tells whether the code returned an error after its context had been cancelled.
func (e *execution) cutShort() bool { return e.err != nil && e.under.Work.Err() != nil }

// noSession tells why an end could not even be asked for.
func (e *execution) noSession() error {
	if err := e.under.Session.Err(); err != nil {
		return err
	}
	return ErrStopped
}

// close forgets an execution whose end was recorded or refused for good.
func (r *runner) close(e *execution, o registry.Outcome) {
	it := r.items[e.item]
	it.running = nil
	r.toConsider.Note([]int{e.item}, false)
	it.wrote = max(it.wrote, o.Revision)
	if o.Err != nil {
		if !e.undo {
			r.mending.EndRefused(e.item, e.token)
		}
		r.lost.Note([]int{e.item}, false)
		r.mending.Unexplained([]int{e.item}, false) // its mark may be back, if its session was taken up again
	}
	if !r.owns(e.item) {
		delete(r.items, e.item)
	}
	if o.Err != nil && !errors.Is(o.Err, registry.ErrConflict) {
		r.unsettled = e.under.Session // whose mark stays
	}
	r.reportEnd(e, o.Err)
	var conflict *registry.ConflictError
	if errors.As(o.Err, &conflict) {
		r.overtaken(conflict)
	}
}

func (r *runner) reportEnd(e *execution, refused error) {
	attrs := []any{logItem, e.item, logFire, e.context.Fire, logSource, string(e.context.Source), logToken, e.context.Token}
	switch {
	case e.undo: // whether or not that was recorded: nobody heard of its start
		r.s.repeated(slog.LevelWarn, "item had begun and was not run: the confirmation came too late, or its turn did", r.name, nil, attrs...)
		if e.round != nil {
			r.leaveRound(e, refused)
		}
		return
	case room.Hopeless(refused):
		r.s.repeated(slog.LevelError, "end refused: the registry does not take it, the item stays marked until the session ends", r.name, refused, attrs...)
	case refused != nil && e.cutShort():
		r.log.WarnContext(r.life, "item was cut short, and taken away before that could be recorded", append(attrs, logError, e.err, logReason, refused.Error())...)
	case refused != nil:
		r.log.ErrorContext(r.life, "item has finished, and its end could not be recorded: the execution was taken away",
			append(attrs, logError, refused)...)
	case e.err == nil:
		r.log.DebugContext(r.life, "item done", attrs...)
	case e.cutByRound() || e.cutShort():
		r.log.WarnContext(r.life, "item was cut short", append(attrs, logError, e.err)...)
	default:
		r.failed(e)
	}
	if e.started {
		r.tally.count(e.err, refused)
		r.s.observer.observe(ItemEvent{
			Round: e.round.event.ID, Context: e.context, Began: e.began, Ended: e.ended, Err: e.err, CutShort: e.cutShort(), Refused: refused,
		})
	}
	r.leaveRound(e, refused)
}

// owns tells whether an item is assigned to this instance.
func (r *runner) owns(n int) bool { return r.state.Owner(n) == r.s.instance }
