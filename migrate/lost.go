package migrate

import (
	"time"

	"github.com/elasticron/elasticron/failover"
	"github.com/elasticron/elasticron/internal/guarded"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// left tells whether the mark of an execution was left behind by an instance that is gone. With failover on, 3.x keeps
// these marks in nodes that no session owns, so that others see what was lost.
func (o *original) left(item int) bool {
	mark := o.state.Item(item).Running
	return o.format == Format3 && mark.Session == 0 && mark.Value != "" && o.state.Instance(mark.Value).Created == 0
}

// findLost finds the executions that the source would run again: those whose instance is gone, and those that wait for
// somebody to take them over. They count while failover is on.
func (o *original) findLost() {
	var given, theirs, disabled []int
	for n := range min(o.state.Items(), o.config.ShardingTotalCount) {
		e, lost := o.lostExecution(n)
		switch {
		case !lost:
		case !o.config.Failover:
			given = append(given, n)
		case len(o.state.Instances) > 0:
			theirs = append(theirs, n)
		case o.state.Item(n).Disabled:
			disabled = append(disabled, n)
		default:
			if o.lost == nil {
				o.lost = make(map[int]jobtree.Execution)
			}
			o.lost[n] = e
		}
	}
	o.noteItems("not copied: lost executions of items %s: failover is off", given)
	o.noteItems("not copied: lost executions of items %s: the source's instances run them again", theirs)
	o.noteItems("not copied: lost executions of items %s, which are disabled", disabled)
}

// lostExecution returns what is known of the execution that an item has lost.
func (o *original) lostExecution(item int) (jobtree.Execution, bool) {
	it := o.state.Item(item)
	if owed := it.Record.Value.Owed(); owed != nil {
		return *owed, true
	}
	switch {
	case failover.Lost(o.state, item) && it.Record.Value.Current.Failover:
		return *it.Record.Value.Current, true
	case o.left(item):
		return jobtree.Execution{Instance: it.Running.Value, Source: job.Scheduled}, true
	case it.FailoverItem != 0:
		return jobtree.Execution{Instance: it.Instance, Source: job.Scheduled}, true
	default:
		claimant, died := o.diedClaiming(it)
		return jobtree.Execution{Instance: claimant, Source: job.Scheduled}, died
	}
}

// diedClaiming returns the instance that claimed an item and is gone, and that has not begun to run it. In 3.x all that
// tells of it is the node that outlives the claimant.
func (o *original) diedClaiming(it jobtree.Item) (claimant string, died bool) {
	claim := o.nodes[o.state.Tree().ItemFailovering(it.Number)]
	died = o.format == Format3 && claim.Value != "" && !it.Failover.Exists() && !it.Running.Exists() && o.state.Instance(claim.Value).Created == 0
	return claim.Value, died
}

// lostExecutions are those that the job would run again by itself, by item.
func (o *original) lostExecutions() map[int]jobtree.Execution {
	found := make(map[int]jobtree.Execution)
	for n := range min(o.state.Items(), o.config.ShardingTotalCount) {
		if e, lost := o.lostExecution(n); lost && o.config.Failover && !o.state.Item(n).Disabled {
			found[n] = e
		}
	}
	return found
}

// rerun returns the writes that have the lost executions run again in a target that has not had the job.
func (o *original) rerun(target jobNodes, now time.Time) (steps []guarded.Step, changes []Change) {
	tree := target.state.Tree()
	for n := range o.config.ShardingTotalCount {
		e, lost := o.lost[n]
		if !lost {
			continue
		}
		for _, w := range []registry.Write{
			registry.Put(tree.ItemRecord(n), jobtree.EncodeRecord(jobtree.LostElsewhere(e, now))),
			registry.Put(tree.FailoverItem(n), ""),
		} {
			step, change := target.put(w.Path, w.Value)
			steps, changes = append(steps, step), append(changes, change)
		}
	}
	return steps, changes
}
