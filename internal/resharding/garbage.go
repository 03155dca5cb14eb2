package resharding

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
)

// Garbage is what stands in a job's tree for no reason.
type Garbage struct {
	Txns []registry.Txn // each removes one thing, guarded by what makes it garbage
}

// GarbageOf lists what a leader may remove:
//
//   - instances that no session owns. Nobody answers for them, and they would be given items.
//   - servers without an instance about which no operator said anything, unless Java instances share the job.
//   - marks of claims for which nothing runs.
//   - wishes for a claimant of items that do not wait.
//   - missed fires of items that have run for them since. What runs may be taken back yet.
//   - records of surplus items that do not run and whose last fire is older than before, so
//     that no clock within the tolerated difference can still tick it. What has run for a request by hand keeps its record
//     until that was over before, too: if the item comes back, it is not to run for it again.
//
// term is the revision that created the leader's node. Of a job that had many more items that is very much, so there are
// not many more than most: what is removed makes room for the next.
func GarbageOf(s *jobtree.State, term registry.Revision, before time.Time, most int) Garbage {
	g := gatherer{s: s, leads: registry.CreatedAt(s.Tree().Leader(), term)}
	g.ghosts()
	g.servers()
	for item := range s.Items() {
		if len(g.txns) >= most {
			break
		}
		g.item(s.Item(item), before)
	}
	return Garbage{Txns: g.txns}
}

type gatherer struct {
	s     *jobtree.State
	leads registry.Condition
	txns  []registry.Txn
}

// remove adds the removal of a node that was last changed at revision.
func (g *gatherer) remove(path string, revision registry.Revision, conditions ...registry.Condition) {
	g.txns = append(g.txns, registry.Txn{
		If:   slices.Concat([]registry.Condition{g.leads, registry.Unchanged(path, revision)}, conditions),
		Then: []registry.Write{registry.Delete(path)},
	})
}

func (g *gatherer) ghosts() {
	for _, instance := range g.s.Instances {
		if instance.Session == 0 {
			g.remove(g.s.Tree().Instance(instance.ID), instance.Revision)
		}
	}
}

func (g *gatherer) servers() {
	if g.s.SharedWithJava() {
		return // who starts there writes its server first, and leads no job, or gets no items, without it; operators tidy up
	}
	for _, server := range g.s.Servers {
		inUse := slices.ContainsFunc(g.s.Instances, func(i jobtree.Instance) bool {
			return jobtree.ServerOf(i.ID) == server.IP
		})
		// Where new servers start disabled, as among Java instances, a node that says "enabled" says something.
		if !server.Disabled && !inUse && !g.s.Config.Value.Disabled {
			g.remove(g.s.Tree().Server(server.IP), server.Revision)
		}
	}
}

func (g *gatherer) item(it jobtree.Item, before time.Time) {
	tree, record := g.s.Tree(), it.Record
	asRead := registry.Unchanged(tree.ItemRecord(it.Number), record.Revision)
	if record.Err != nil {
		return
	}
	java := g.s.SharedWithJava() // which claims in one step and runs in another, also what was never recorded
	if it.Failover.Exists() && !it.Running.Exists() && !java {
		g.remove(tree.ItemFailover(it.Number), it.Failover.Revision, registry.Absent(tree.ItemRunning(it.Number)))
	}
	if it.FailoverItem != 0 && !java && record.Value.State != jobtree.ItemWaiting {
		g.remove(tree.FailoverItem(it.Number), it.FailoverItem, asRead)
	}
	missed, stands := it.Misfire, record.Value.State == jobtree.ItemRunning // a begin that stands may be taken back, and its fires with it
	if missed.Exists() && !stands && !missed.Value.Newest().IsZero() && !missed.Value.Newest().After(record.Value.LastFire) {
		g.remove(tree.ItemMisfire(it.Number), missed.Revision, asRead)
	}
	surplus := it.Number >= g.s.Total() && it.Number >= g.s.Config.Value.ShardingTotalCount
	if surplus && record.Exists() && !it.Running.Exists() &&
		record.Value.State != jobtree.ItemRunning && record.Value.LastFire.Before(before) && !g.ranFor(record.Value, before) {
		// One that is back by the time of a late removal keeps its record, which tells what it ran.
		g.remove(tree.ItemRecord(it.Number), record.Revision, registry.Absent(tree.ItemRunning(it.Number)),
			registry.Unchanged(tree.Epoch(), g.s.Epoch.Revision), registry.Unchanged(tree.Config(), g.s.Config.Revision))
	}
}

// ranFor tells whether an item has run for the last request by hand, which was not over before.
func (g *gatherer) ranFor(r jobtree.Record, before time.Time) bool {
	t := g.s.Triggered()
	return t.Exists() && t.Err == nil && !t.Value.Over(before) && r.Trigger >= t.Revision
}
