package scheduler

import (
	"errors"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// heal removes nodes that only a session can own and that none does. Somebody wrote them by hand, and
// nothing would ever take them away: a mark under which nothing runs, a leader that does not lead, an
// instance that runs nothing. Missed fires that a session owns are in the way of everybody who has some to
// note. Each is deleted as it was seen.
//
// A mark that is gone is not put back. Its execution goes on and ends by its record (T5b).
func (r *runner) heal() {
	leader := r.state.Leader
	mine := r.attached.Session.ID()
	mislabelled := leader.Session == mine && leader.Instance != r.s.instance && r.state.Instance(leader.Instance).Session != mine
	if leader.Created != 0 && (leader.Session == 0 || mislabelled) {
		r.removeStray(r.tree.Leader(), leader.Revision)
	}
	for _, i := range r.state.Instances {
		if i.Session == 0 && (i.ID == r.s.instance || r.leads()) {
			r.removeStray(r.tree.Instance(i.ID), i.Revision)
		}
	}
	for n := range r.suspect.Take(r.state.Items()) {
		it := r.state.Item(n)
		if it.Running.Exists() && it.Running.Session == 0 {
			r.removeStray(r.tree.ItemRunning(n), it.Running.Revision)
		}
		if it.Failover.Exists() && it.Failover.Session == 0 {
			r.removeStray(r.tree.ItemFailover(n), it.Failover.Revision)
		}
		if it.Misfire.Exists() && r.view.Snapshot().Get(r.tree.ItemMisfire(n)).Ephemeral() {
			r.removeStray(r.tree.ItemMisfire(n), it.Misfire.Revision)
		}
	}
	for _, p := range jobtree.Phases {
		if hook := r.state.Barrier(p).Hook; hook.Exists() && hook.Session == 0 {
			r.removeStray(r.tree.BarrierHook(p), hook.Revision)
		}
	}
	if stray := r.state.StrayProcessing(); stray != 0 {
		r.removeStray(r.tree.Processing(), stray)
	}
	r.restoreTokens()
}

// removeStray deletes a node that somebody wrote by hand, as it was seen at a revision.
func (r *runner) removeStray(path string, seen registry.Revision) {
	if r.remove(path, seen) {
		r.log.WarnContext(r.life, "removed a node that no live session answers for: it was written by hand", "node", path)
	}
}

// remove deletes a node as it was seen at a revision, and tells whether it did.
func (r *runner) remove(path string, seen registry.Revision) bool {
	revision, err := r.removeUnder(r.attached, path, seen)
	if err != nil {
		r.suspect.Note(nil, true)
		r.refused("remove a stray node", err)
		return false
	}
	r.committed(revision)
	return true
}

// removeUnder is remove for whoever deals with what comes of it.
func (r *runner) removeUnder(a *room.Attachment, path string, seen registry.Revision) (registry.Revision, error) {
	return r.s.registry.Commit(a.Ctx, registry.Txn{
		If:   []registry.Condition{registry.Unchanged(path, seen)},
		Then: []registry.Write{registry.Delete(path)},
	})
}

// maxAside bounds, in bytes, what is kept of a record that cannot be read.
const maxAside = 16 << 10

// setAside replaces the record of an item that cannot be read, keeps its text for an operator, and has
// the item go on with the fires from now on: what the record said is not known. One of a newer format is
// left as it is.
func (r *runner) setAside(round *round, n int, node jobtree.Item) {
	it := r.item(n)
	it.due = r.settings.rules.Miss(it.due)
	path := r.tree.ItemRecord(n)
	found := r.view.Snapshot().Get(path)
	if errors.Is(node.Record.Err, jobtree.ErrNewerFormat) || found.Revision != node.Record.Revision {
		return
	}
	now := round.now
	if horizon := r.s.clock.Horizon(); !horizon.IsZero() && now.After(horizon) {
		now = horizon
	}
	text := strings.ToValidUTF8(found.Value[:min(len(found.Value), maxAside)], "\uFFFD")
	fresh := jobtree.Record{State: jobtree.ItemIdle, LastFire: now.Truncate(time.Millisecond)}
	round.batch.Add("begin", registry.Txn{
		If: []registry.Condition{registry.Unchanged(path, found.Revision), registry.Absent(r.tree.ItemRunning(n))},
		Then: []registry.Write{
			registry.Put(path, jobtree.EncodeRecord(fresh)),
			registry.Put(r.tree.ItemAside(n), text),
		},
	}, func(registry.Outcome) {
		r.log.ErrorContext(r.life, "the record of an item could not be read: it was set aside, and the item goes on with its next fire",
			logItem, n, logError, node.Record.Err, "node", r.tree.ItemAside(n))
	})
}
