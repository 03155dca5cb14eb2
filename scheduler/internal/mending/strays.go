package mending

import (
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// strays proposes to remove nodes that only a session can own and that none does. Somebody wrote them by hand, and
// nothing would ever take them away: a mark under which nothing runs, a leader that does not lead, an
// instance that runs nothing. Missed fires that a session owns are in the way of everybody who has some to
// note. Each is deleted as it was seen.
//
// A mark that is gone is not put back. Its execution goes on and ends by its record (T5b); if that is gone, too, see
// executions.Hold.
func (m *Mending) strays(v room.View) (batch room.Batch) {
	stray := func(path string, seen registry.Revision) { batch = append(batch, m.removeStray(path, seen)) }
	leader := v.State.Leader
	mine := v.Attached.Session.ID()
	mislabelled := leader.Session == mine && leader.Instance != v.Instance && v.State.Instance(leader.Instance).Session != mine
	if leader.Created != 0 && (leader.Session == 0 || mislabelled) {
		stray(v.Tree.Leader(), leader.Revision)
	}
	byJava := v.State.SharedWithJava() && v.State.LedByJava() // by one that would give such an instance items for ever
	for _, i := range v.State.Instances {
		if i.Session == 0 && (i.ID == v.Instance || v.Leads() || byJava) {
			stray(v.Tree.Instance(i.ID), i.Revision)
		}
	}
	for _, n := range m.suspect.Take(v.State.Items()) {
		it := v.State.Item(n)
		if it.Running.Exists() && it.Running.Session == 0 {
			stray(v.Tree.ItemRunning(n), it.Running.Revision)
		}
		if it.Failover.Exists() && it.Failover.Session == 0 {
			stray(v.Tree.ItemFailover(n), it.Failover.Revision)
		}
		if it.Misfire.Exists() && m.ports.Snapshot().Get(v.Tree.ItemMisfire(n)).Ephemeral() {
			stray(v.Tree.ItemMisfire(n), it.Misfire.Revision)
		}
	}
	for _, p := range jobtree.Phases {
		if hook := v.State.Barrier(p).Hook; hook.Exists() && hook.Session == 0 {
			stray(v.Tree.BarrierHook(p), hook.Revision)
		}
	}
	if seen := v.State.StrayProcessing(); seen != 0 {
		stray(v.Tree.Processing(), seen)
	}
	return batch
}

// removeStray proposes to delete a node that somebody wrote by hand, as it was seen at a revision.
func (m *Mending) removeStray(path string, seen registry.Revision) room.Proposal {
	txn := registry.Txn{
		If:   []registry.Condition{registry.Unchanged(path, seen)},
		Then: []registry.Write{registry.Delete(path)},
	}
	return room.Proposal{
		Step: "remove a stray node", Alone: true, Txn: txn,
		Done: func(registry.Outcome) {
			m.ports.Log().WarnContext(m.ports.Life(), "removed a node that no live session answers for: it was written by hand", "node", path)
		},
		Refused: func(error) bool { m.suspect.AddAll(); return false },
	}
}
