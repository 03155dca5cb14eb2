package mending

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/executions"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// Orphans proposes to end executions that are marked as running under the present session, or a former one of this
// process, although none of its work stands behind them: a begin that was done though its answer never came, or one
// from before the session was given up here, and perhaps taken up again. Nobody else can: to all others
// they look alive for as long as the registry keeps that session. idle tells whether nothing of an item runs here, and
// the state shows all that this process wrote of it.
func (m *Mending) Orphans(v room.View, idle func(item int) bool) room.Batch {
	var batch room.Batch
	for _, n := range m.unexplained.Take(v.State.Items()) {
		node := v.State.Item(n)
		if unmarked(v, node) && idle(n) {
			batch = append(batch, m.endUnmarked(v, node)...)
			continue
		}
		if m.marked(v, node) && idle(n) {
			batch = append(batch, m.endOrphan(v, node)...)
		}
	}
	return batch
}

// marked tells whether an item has a mark of this instance. Its session may be that of others, too, so the mark's text
// counts; or else the record, as a careless hand may have changed the text.
func (m *Mending) marked(v room.View, node jobtree.Item) bool {
	if !m.ports.Held(node.Running.Session) {
		return false
	}
	record := node.Record.Value
	recorded := record.State == jobtree.ItemRunning && record.Current.Instance == v.Instance &&
		record.Token(node.Record.Revision) == node.Running.Created
	return node.Running.Value == v.Instance || recorded
}

// endOrphan proposes to end an orphan: as never started if this process never ran it, else as
// cut short.
func (m *Mending) endOrphan(v room.View, node jobtree.Item) room.Batch {
	n, token := node.Number, node.Running.Created
	if node.Record.Value.Token(node.Record.Revision) != token {
		return m.removeMark(v, node)
	}
	now := v.Clock.Now()
	record, err := node.Record.Value.Undo(int64(token), now)
	if m.refused[n] == token {
		record, err = node.Record.Value.End(jobtree.End{
			Token: int64(token), Time: now, Outcome: jobtree.Interrupted,
			Error: "its session was given up while it ran", FailoverLimit: v.FailoverLimit(),
		})
	}
	if err != nil {
		m.ports.Log().ErrorContext(m.ports.Life(), "cannot end an execution that nobody runs", room.KeyItem, n, room.KeyError, err)
		return nil
	}
	txn := executions.End(v.State, n, token, node.Record.Value.Current.Source, record)
	return room.Batch{{Step: "clear orphans", Txn: txn, Done: func(registry.Outcome) {
		m.ports.Log().WarnContext(m.ports.Life(), "ended an execution that nobody runs", room.KeyItem, n, room.KeyToken, m.tokens.now.Of(token))
	}}}
}

// removeMark proposes to remove a mark of which the record says nothing, or cannot be read.
func (m *Mending) removeMark(v room.View, node jobtree.Item) room.Batch {
	n := node.Number
	txn := registry.Txn{
		If: []registry.Condition{
			executions.Mark(v.Tree, n, node.Running.Created),
			registry.Unchanged(v.Tree.ItemRecord(n), node.Record.Revision),
		},
		Then: []registry.Write{registry.Delete(v.Tree.ItemRunning(n))},
	}
	return room.Batch{{Step: "clear orphans", Txn: txn, Done: func(registry.Outcome) {
		m.ports.Log().WarnContext(m.ports.Life(), "removed a mark under which nothing runs", room.KeyItem, n)
	}}}
}

// unmarked tells whether an item is recorded as running under the present session, though it has no
// mark of it.
func unmarked(v room.View, node jobtree.Item) bool {
	record := node.Record.Value
	return record.State == jobtree.ItemRunning && node.Running.Session != v.Attached.Session.ID() &&
		record.Current.Instance == v.Instance && record.Current.Session == v.Attached.Session.ID()
}

// endUnmarked proposes to end such an execution, which nothing of this process stands behind.
func (m *Mending) endUnmarked(v room.View, node jobtree.Item) room.Batch {
	n := node.Number
	record, err := node.Record.Value.End(jobtree.End{
		Token: int64(node.Record.Value.Token(node.Record.Revision)), Time: v.Clock.Now(), Outcome: jobtree.Interrupted,
		Error: "its mark was taken away", FailoverLimit: v.FailoverLimit(),
	})
	if err != nil {
		m.ports.Log().ErrorContext(m.ports.Life(), "cannot end an execution that nobody runs", room.KeyItem, n, room.KeyError, err)
		return nil
	}
	txn := registry.Txn{
		If:   []registry.Condition{registry.Unchanged(v.Tree.ItemRecord(n), node.Record.Revision)},
		Then: []registry.Write{registry.Put(v.Tree.ItemRecord(n), jobtree.EncodeRecord(record))},
	}
	if record.State == jobtree.ItemWaiting {
		txn.Then = append(txn.Then, registry.Put(v.Tree.FailoverItem(n), ""))
	}
	if node.Record.Value.Current.Source == job.Failover && node.Failover.Session == v.Attached.Session.ID() {
		txn.Then = append(txn.Then, v.State.Unclaim(n)...)
	}
	return room.Batch{{Step: "clear orphans", Txn: txn}}
}
