package executions

import (
	"errors"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// settleTries bounds how often the end of one execution is tried in a row. More than two are needed only
// if somebody rewrites the record meanwhile, which nobody who follows the protocol does.
const settleTries = 3

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
