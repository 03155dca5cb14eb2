package executions

import (
	"context"
	"errors"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// An end that the registry refuses may have been done all the same, or may still be done otherwise. So the room reads
// what the refusal is about, on a goroutine of its own, and decides by what that finds: the end counts as recorded or as
// refused, or it is proposed again. Until then the execution counts as running, so nothing else of its item begins here.
// The other items of the job wait for nothing. What was read guards what is proposed next, so it may be old by then.

// mostLooks bounds how often the refusals of one end are looked into in a row. More than two looks are needed only if
// somebody rewrites the record meanwhile, which nobody who follows the protocol does.
const mostLooks = 3

// subject is what a refusal of an end is about.
type subject int

const (
	// theRecord: the mark is not there, or the record has changed. The record tells whether an earlier try, whose answer
	// was lost, was done. If it still has the execution running, because only the mark was taken away, the end is
	// recorded without the mark (T5b).
	theRecord subject = iota + 1
	// theMissed: somebody else has noted missed fires of the item meanwhile. Those are kept. The refusal shows them, so
	// nothing is read. It does not count: after an outage one after the other notes what it knows, and that comes to an end.
	theMissed
	// theOwners: a foreign session holds a node that the end writes and that no session may own. A hand has replaced
	// what was there, so the node is removed: what the end says of the item is known here.
	theOwners
)

// refusal is a refused end, and what was read about it.
type refusal struct {
	first   registry.Outcome // what the registry said, before anything was looked into
	looks   int              // so far, in a row
	about   subject          // of the last look
	under   *room.Attachment // of the last look
	found   map[string]registry.Node
	err     error           // why nothing was found
	foreign []registry.Node // that are to be removed before the end is tried again
}

// aboutWhat returns what a refusal of an end is about; zero if nothing that is read would change it.
func aboutWhat(v room.View, e *Execution, err error) subject {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, registry.ErrOwned):
		return theOwners
	}
	var conflict *registry.ConflictError
	if !errors.As(err, &conflict) {
		return 0
	}
	switch conflict.Condition.Path {
	case v.Tree.ItemMisfire(e.Item):
		return theMissed
	case v.Tree.ItemRunning(e.Item), v.Tree.ItemRecord(e.Item):
		return theRecord
	default:
		return 0
	}
}

// lookInto finds out what a refusal is about, or begins to read that. It returns false if the refusal counts as it is.
func (x *Executions) lookInto(v room.View, e *Execution, o registry.Outcome) bool {
	about := aboutWhat(v, e, o.Err)
	if about == 0 || about != theMissed && e.refusal != nil && e.refusal.looks == mostLooks {
		return false
	}
	if e.refusal == nil {
		e.refusal = &refusal{first: o}
	}
	f, under := e.refusal, v.Attached
	if about != theMissed {
		f.looks++
	}
	f.about, f.under, f.foreign = about, under, nil
	goOn := func() { x.ended, x.endsGather = append(x.ended, e), false } // it has waited long enough
	if conflict := (*registry.ConflictError)(nil); about == theMissed && errors.As(o.Err, &conflict) {
		e.noted = storedMisfire(conflict.Found)
		goOn()
		x.ports.DecideAgain()
		return true
	}
	paths := x.pathsOf(v, e, about)
	x.looking++
	x.ports.Work(func() {
		found, err := x.read(under.Ctx, paths)
		x.ports.Post(func() {
			x.looking--
			f.found, f.err = found, err
			goOn()
		})
	})
	return true
}

// LookingInto tells whether refused ends are being looked into.
func (x *Executions) LookingInto() bool { return x.looking > 0 }

// pathsOf returns what is to be read of the record, or of the owners.
func (x *Executions) pathsOf(v room.View, e *Execution, about subject) []string {
	if about == theRecord {
		return []string{v.Tree.ItemRecord(e.Item)}
	}
	paths := []string{v.Tree.ItemMisfire(e.Item)}
	for _, w := range x.endTxn(v, e).Then {
		if w.Kind == registry.WritePut {
			paths = append(paths, w.Path)
		}
	}
	return paths
}

// read reads nodes. One that is not there is the zero node.
func (x *Executions) read(ctx context.Context, paths []string) (map[string]registry.Node, error) {
	found := make(map[string]registry.Node, len(paths))
	for _, path := range paths {
		node, err := x.ports.Registry().Get(ctx, path)
		if err != nil && !errors.Is(err, registry.ErrNotFound) {
			return nil, err
		}
		found[path] = node
	}
	return found, nil
}

// judge takes in what was found out about a refusal. It returns how the end went if nothing is to be proposed for it now.
func (x *Executions) judge(v room.View, e *Execution) (o registry.Outcome, over bool) {
	f := e.refusal
	switch {
	case f.about == theMissed:
		return registry.Outcome{}, false
	case f.err != nil && f.under != v.Attached:
		e.refusal = nil // it could not be read before the session ended: the next one tries anew
		return registry.Outcome{}, false
	case f.err != nil:
		return registry.Outcome{Err: f.err}, true
	case f.about == theRecord:
		return x.judgeRecord(v, e, f.found[v.Tree.ItemRecord(e.Item)])
	}
	missed := f.found[v.Tree.ItemMisfire(e.Item)]
	for _, w := range x.endTxn(v, e).Then {
		node := f.found[w.Path]
		if w.Kind != registry.WritePut || !node.Ephemeral() {
			continue
		}
		f.foreign = append(f.foreign, node)
		if node.Path == missed.Path {
			missed = registry.Node{}
		}
	}
	e.noted = storedMisfire(missed)
	return registry.Outcome{}, false
}

func storedMisfire(node registry.Node) *jobtree.Stored[jobtree.Misfire] {
	stored := &jobtree.Stored[jobtree.Misfire]{Revision: node.Revision}
	stored.Value, _ = jobtree.DecodeMisfire(node) // what cannot be read says nothing
	return stored
}

// judgeRecord finds out by the record of an execution's item how its end went. Nothing is over while the record still
// has the execution running.
func (x *Executions) judgeRecord(v room.View, e *Execution, node registry.Node) (o registry.Outcome, over bool) {
	if !node.Exists() {
		return e.refusal.first, true
	}
	record, err := jobtree.DecodeRecord(node)
	outcome, _ := record.Ended(int64(e.Token))
	switch {
	case err == nil && outcome == endRecord(v, e).Current.Outcome:
		return registry.Outcome{Revision: node.Revision}, true
	case err != nil || record.Token(node.Revision) != e.Token:
		return e.refusal.first, true
	default:
		e.late = node.Revision
		return registry.Outcome{}, false
	}
}

// disown proposes to remove the nodes of a foreign session, and tells whether there are any. The end that is written
// there has to stand alone after that.
func (x *Executions) disown(batch *room.Batch, e *Execution) (found bool) {
	if e.refusal == nil {
		return false
	}
	for _, node := range e.refusal.foreign {
		*batch = append(*batch, room.Proposal{
			Step: "remove a foreign node", Alone: true, Noted: true,
			Txn: registry.Txn{
				If:   []registry.Condition{registry.Unchanged(node.Path, node.Revision)},
				Then: []registry.Write{registry.Delete(node.Path)},
			},
			Done: func(registry.Outcome) {
				x.ports.Log().WarnContext(x.ports.Life(), "removed a node that a foreign session held: the end of an execution is written there", room.KeyItem, e.Item, "node", node.Path)
			},
			Refused: func(error) bool { return true }, // the end is refused in its turn
		})
	}
	return len(e.refusal.foreign) > 0
}
