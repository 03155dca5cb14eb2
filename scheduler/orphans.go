package scheduler

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// clearOrphans ends executions that are marked as running under the present session although none of
// this process's work stands behind them: a begin that was done though its answer never came, or one
// from before the session was given up here and then taken up again. Nobody else can: to all others
// they look alive.
func (r *runner) clearOrphans() {
	var batch room.Batch
	for n := range r.unexplained.Take(r.state.Items()) {
		node := r.state.Item(n)
		if r.unmarked(node) && r.idleHere(n) {
			r.proposeUnmarked(&batch, n, node)
			continue
		}
		mine := node.Running.Session == r.attached.Session.ID() && node.Running.Value == r.s.instance
		if mine && r.idleHere(n) {
			r.proposeOrphan(&batch, n, node)
		}
	}
	r.commitAll(batch)
}

// idleHere tells whether nothing of an item runs here, and the state shows all that this runner wrote
// of it.
func (r *runner) idleHere(n int) bool {
	if r.claiming && r.claimingOf == n {
		return false // what a claim brought about may be shown before its answer is
	}
	it := r.items[n]
	return it == nil || it.running == nil && it.wrote <= r.applied
}

// proposeOrphan proposes to end an orphan: as never started if this process never ran it, else as
// cut short.
func (r *runner) proposeOrphan(batch *room.Batch, n int, node jobtree.Item) {
	token := int64(node.Running.Created)
	if node.Record.Value.Token(node.Record.Revision) != node.Running.Created {
		r.proposeBareMark(batch, n, node)
		return
	}
	record, err := node.Record.Value.Undo(token, r.s.now())
	if r.cutShort[n] == node.Running.Created {
		record, err = node.Record.Value.End(jobtree.End{
			Token: token, Time: r.s.now(), Outcome: jobtree.Interrupted,
			Error: "its session was given up while it ran", FailoverLimit: r.failoverLimit(),
		})
	}
	if err != nil {
		r.log.ErrorContext(r.life, "cannot end an execution that nobody runs", logItem, n, logError, err)
		return
	}
	e := &execution{item: n, token: node.Running.Created, context: job.ShardingContext{Source: node.Record.Value.Current.Source}}
	batch.Add("clear orphans", r.endWrites(e, record), func(registry.Outcome) {
		r.log.WarnContext(r.life, "ended an execution that nobody runs", logItem, n, logToken, r.tokens.now.Of(node.Running.Created))
	})
}

// proposeBareMark proposes to remove a mark of which the record says nothing, or cannot be read.
func (r *runner) proposeBareMark(batch *room.Batch, n int, node jobtree.Item) {
	batch.Add("clear orphans", registry.Txn{
		If: []registry.Condition{
			registry.CreatedAt(r.tree.ItemRunning(n), node.Running.Created),
			registry.Unchanged(r.tree.ItemRecord(n), node.Record.Revision),
		},
		Then: []registry.Write{registry.Delete(r.tree.ItemRunning(n))},
	}, func(registry.Outcome) {
		r.log.WarnContext(r.life, "removed a mark under which nothing runs", logItem, n)
	})
}

// unmarked tells whether an item is recorded as running under the present session, though it has no
// mark of it.
func (r *runner) unmarked(node jobtree.Item) bool {
	record := node.Record.Value
	return record.State == jobtree.ItemRunning && node.Running.Session != r.attached.Session.ID() &&
		record.Current.Instance == r.s.instance && record.Current.Session == r.attached.Session.ID()
}

// proposeUnmarked proposes to end such an execution, which nothing of this process stands behind.
func (r *runner) proposeUnmarked(batch *room.Batch, n int, node jobtree.Item) {
	record, err := node.Record.Value.End(jobtree.End{
		Token: int64(node.Record.Value.Token(node.Record.Revision)), Time: r.s.now(), Outcome: jobtree.Interrupted,
		Error: "its mark was taken away", FailoverLimit: r.failoverLimit(),
	})
	if err != nil {
		r.log.ErrorContext(r.life, "cannot end an execution that nobody runs", logItem, n, logError, err)
		return
	}
	txn := registry.Txn{
		If:   []registry.Condition{registry.Unchanged(r.tree.ItemRecord(n), node.Record.Revision)},
		Then: []registry.Write{registry.Put(r.tree.ItemRecord(n), jobtree.EncodeRecord(record))},
	}
	if record.State == jobtree.ItemWaiting {
		txn.Then = append(txn.Then, registry.Put(r.tree.FailoverItem(n), ""))
	}
	if node.Record.Value.Current.Source == job.Failover && node.Failover.Session == r.attached.Session.ID() {
		txn.Then = append(txn.Then, registry.Delete(r.tree.ItemFailover(n)))
	}
	batch.Add("clear orphans", txn, nil)
}
