package scheduler

import (
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// clearOrphans ends executions that are marked as running under the present session although none of
// this process's work stands behind them: a begin that was done though its answer never came, or one
// from before the session was given up here and then taken up again. Nobody else can: to all others
// they look alive.
func (r *runner) clearOrphans() {
	var batch proposals
	for n := range r.unexplained.take(r.state.Items()) {
		node := r.state.Item(n)
		if r.unmarked(node) && r.idleHere(n) {
			r.proposeUnmarked(&batch, n, node)
			continue
		}
		mine := node.Running.Session == r.attached.session.ID() && node.Running.Value == r.s.instance
		if !mine || node.Record.Value.State != jobtree.ItemRunning {
			continue
		}
		if !r.idleHere(n) {
			continue
		}
		r.proposeOrphan(&batch, n, node)
	}
	r.commitAll(r.attached.ctx, "clear orphans", batch)
}

// idleHere tells whether nothing of an item runs here, and the state shows all that this runner wrote
// of it.
func (r *runner) idleHere(n int) bool {
	if r.shared.claiming && r.shared.claimed == n {
		return false // what a claim brought about may be shown before its answer is
	}
	it := r.items[n]
	return it == nil || it.running == nil && it.wrote <= r.applied
}

// proposeOrphan proposes to end an orphan: as never started if this process never ran it, else as
// cut short.
func (r *runner) proposeOrphan(batch *proposals, n int, node jobtree.Item) {
	token := int64(node.Running.Created)
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
	batch.add(r.endWrites(e, record), func(o registry.Outcome) {
		r.committed(o.Revision)
		r.log.WarnContext(r.life, "ended an execution that nobody runs", logItem, n, logToken, r.state.Tokens().Value.Of(node.Running.Created))
	})
}
