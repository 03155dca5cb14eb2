package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/jobtree"
	"github.com/elasticron/elasticron/registry"
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
		time.AfterFunc(gatherEnds, func() { r.box.post(func() { r.endsGather = false }) })
	}
}

// finish commits the ends of executions whose code has returned (T5): once all have that run, or a
// moment after the first.
func (r *runner) finish() {
	if len(r.ended) == 0 || r.endsGather && r.active > 0 {
		return
	}
	r.endsGather = false
	ended := r.ended
	r.ended = nil
	var batch []*execution
	for _, e := range ended {
		switch {
		case !e.monitored():
			r.close(e, registry.Outcome{})
		case e.under.session.State() == registry.SessionLost:
			r.close(e, registry.Outcome{Err: e.under.session.Err()})
		default:
			batch = append(batch, e)
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
	}
	// All are of the present session: those of lost ones were told apart.
	for i, o := range r.s.registry.CommitAll(batch[0].under.ctx, txns) {
		o = r.settleTaken(batch[i], r.settleEnd(batch[i], o))
		if e := batch[i]; final(o.Err) || e.under.ctx.Err() != nil {
			r.close(e, o)
		} else {
			r.log.WarnContext(r.life, "end not recorded yet, will try again", logItem, e.item, logError, o.Err)
			r.ended = append(r.ended, e)
		}
	}
	if len(r.ended) > 0 {
		r.endsGather = true
		time.AfterFunc(retryAfter, func() { r.box.post(func() { r.endsGather = false }) })
	}
}

// settleEnd asks the record whether an end was recorded that was refused only because an earlier try,
// whose answer was lost, had been done.
func (r *runner) settleEnd(e *execution, o registry.Outcome) registry.Outcome {
	var conflict *registry.ConflictError
	if !errors.As(o.Err, &conflict) || !conflict.Ambiguous {
		return o
	}
	node, err := r.s.registry.Get(e.under.ctx, r.tree.ItemRecord(e.item))
	if err != nil {
		return o
	}
	record, err := jobtree.DecodeRecord(node)
	if _, recorded := record.Ended(int64(e.token)); err != nil || !recorded {
		return o
	}
	return registry.Outcome{Revision: node.Revision}
}

// final tells whether asking again cannot change the answer to an end.
func final(err error) bool {
	return err == nil || errors.Is(err, registry.ErrConflict) || errors.Is(err, registry.ErrSessionLost) || hopeless(err)
}

// endTxn is the transaction of an end (T5). The mark's creation is the token: an execution that was
// taken away cannot end the one that follows.
func (r *runner) endTxn(e *execution) registry.Txn {
	txn := r.endWrites(e, r.endRecord(e))
	if _, write, unsaved := e.progress.unsaved(); unsaved {
		txn.Then = append(txn.Then, write)
	}
	if missed := r.settings.misfires.miss(r.item(e.item).due); len(missed.missed) > 0 && r.owns(e.item) {
		txn.Then = append(txn.Then, registry.Put(r.tree.ItemMisfire(e.item), jobtree.EncodeMisfire(missed.node())))
	}
	return txn
}

// endWrites is the part of an end that every ending of an execution has.
func (r *runner) endWrites(e *execution, record jobtree.Record) registry.Txn {
	txn := registry.Txn{
		If: []registry.Condition{registry.CreatedAt(r.tree.ItemRunning(e.item), e.token)},
		Then: []registry.Write{
			registry.Delete(r.tree.ItemRunning(e.item)),
			registry.Put(r.tree.ItemRecord(e.item), jobtree.EncodeRecord(record)),
		},
	}
	if e.context.Source == job.Failover {
		txn.Then = append(txn.Then, registry.Delete(r.tree.ItemFailover(e.item)))
	}
	if record.State == jobtree.ItemWaiting {
		txn.Then = append(txn.Then, registry.Put(r.tree.FailoverItem(e.item), ""))
	}
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
			Token: int64(e.token), Time: e.ended, Outcome: outcome, Error: text, FailoverLimit: r.failoverLimit(),
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
	case e.under.work.Err() != nil:
		return jobtree.Interrupted, context.Cause(e.under.work).Error() + ": " + e.err.Error()
	default:
		return jobtree.Failure, e.err.Error()
	}
}

// close forgets an execution whose end was recorded or refused for good.
func (r *runner) close(e *execution, o registry.Outcome) {
	it := r.items[e.item]
	it.running = nil
	r.toConsider.note([]int{e.item}, false)
	it.wrote = max(it.wrote, o.Revision)
	if o.Err != nil {
		if !e.undo {
			if r.cutShort == nil {
				r.cutShort = make(map[int]registry.Revision)
			}
			r.cutShort[e.item] = e.token
		}
		r.unexplained.note([]int{e.item}, false) // its mark may be back, if its session was taken up again
	}
	if !r.owns(e.item) {
		delete(r.items, e.item)
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
		r.log.WarnContext(r.life, "item had begun and was not run: the confirmation came too late, or its turn did", attrs...)
		if e.round != nil {
			r.leaveRound(e, refused)
		}
		return
	case hopeless(refused):
		r.log.ErrorContext(r.life, "end refused: the registry does not take it, the item stays marked until the session ends",
			append(attrs, logError, refused)...)
	case refused != nil:
		r.log.ErrorContext(r.life, "end refused: the execution was taken away", append(attrs, logError, refused)...)
	case e.err == nil:
		r.log.DebugContext(r.life, "item done", attrs...)
	case e.cutByRound() || e.under.work.Err() != nil:
		r.log.WarnContext(r.life, "item was cut short", append(attrs, logError, e.err)...)
	default:
		r.failed(e)
	}
	if e.started {
		r.tally.count(e.err, refused)
		r.s.observer.ItemEnded(ItemEvent{
			Round: e.round.event.ID, Context: e.context, Began: e.began, Ended: e.ended, Err: e.err, Refused: refused,
		})
	}
	r.leaveRound(e, refused)
}

// owns tells whether an item is assigned to this instance.
func (r *runner) owns(n int) bool { return r.state.Owner(n) == r.s.instance }
