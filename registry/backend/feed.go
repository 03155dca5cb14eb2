package backend

import (
	"context"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/access"
)

var views = access.Take[access.Views[registry.View, registry.Snapshot, registry.Change, registry.Revision]]()

// Feed is the backend's side of a [registry.View]: it brings the view new states. Calls must come one after
// the other, in the order of the store.
type Feed struct {
	view   *registry.View
	except []func(path string) bool // what the view does not show
}

// NewView makes a view of the subtree at path that shows first. The view calls advance when somebody waits
// for a revision that it has not reached: the backend should confirm that revision through the feed soon,
// even if nothing changes in the subtree. advance must not block for long. The view calls closed once, when
// it has ended; closed must not wait for the goroutine that feeds the view. What except names is left out of all that
// comes: a backend need not do that itself.
func NewView(path string, first registry.Snapshot, advance func(ctx context.Context, to registry.Revision), closed func(), except ...func(path string) bool) (*registry.View, *Feed) {
	f := &Feed{except: except}
	f.view = views.New(path, f.shown(first), advance, closed)
	return f.view, f
}

// shown returns a copy without what the view does not show.
func (f *Feed) shown(fresh registry.Snapshot) registry.Snapshot {
	if len(f.except) == 0 {
		return fresh
	}
	nodes := make([]registry.Node, 0, fresh.Len())
	for n := range fresh.All() {
		if !f.hides(n.Path) {
			nodes = append(nodes, n)
		}
	}
	if len(nodes) == fresh.Len() {
		return fresh
	}
	return registry.NewSnapshot(fresh.Revision(), nodes)
}

func (f *Feed) hides(path string) bool {
	return slices.ContainsFunc(f.except, func(except func(path string) bool) bool { return except(path) })
}

// Event is one node's new state: a put, or a removal if Node does not exist, with what [registry.Change] calls Removed.
type Event struct {
	Path    string
	Node    registry.Node
	Removed registry.Revision
}

// Apply brings the view to revision by events; the last one on a path counts. Events outside
// the subtree and events that the view already shows are left out, and a revision that is not newer
// than the view's changes nothing, so a watch may safely repeat itself.
func (f *Feed) Apply(revision registry.Revision, events []Event) {
	views.Move(f.view, func(now registry.Snapshot) (registry.Snapshot, []registry.Change, bool) {
		if revision <= now.Revision() {
			return now, nil, false
		}
		changes := f.changesOf(now, events)
		return views.Changed(now, revision, changes), changes, true
	})
}

// Replace brings the view to a fresh copy of the subtree, and shows only what differs. A copy older
// than what the view shows is left out. removed tells of a path what [registry.Change] calls Removed; nil if nothing is known.
func (f *Feed) Replace(fresh registry.Snapshot, removed func(path string) registry.Revision) {
	views.Move(f.view, func(now registry.Snapshot) (registry.Snapshot, []registry.Change, bool) {
		if fresh.Revision() < now.Revision() {
			return now, nil, false
		}
		shown := f.shown(fresh)
		changes := shown.Since(now)
		for i := range changes {
			if c := &changes[i]; removed != nil && c.Kind() == registry.Removed {
				c.Removed = removed(c.Path())
			}
		}
		return shown, changes, true
	})
}

// Confirm tells that nothing in the subtree changed up to revision.
func (f *Feed) Confirm(revision registry.Revision) { f.Apply(revision, nil) }

// Revision returns the revision that the view has reached.
func (f *Feed) Revision() registry.Revision { return f.view.Snapshot().Revision() }

// End ends the view for a reason that its Err will give.
func (f *Feed) End(reason error) { views.End(f.view, reason) }

// changesOf returns what events change in a state of the view, in ascending order of paths.
func (f *Feed) changesOf(now registry.Snapshot, events []Event) []registry.Change {
	root := f.view.Path()
	inside := make([]Event, 0, len(events))
	for _, e := range events {
		if registry.Within(e.Path, root) && !f.hides(e.Path) {
			inside = append(inside, e)
		}
	}
	slices.SortStableFunc(inside, func(a, b Event) int { return strings.Compare(a.Path, b.Path) })
	var changes []registry.Change
	removed := registry.Revision(0) // the first revision that removed the node as it is shown, of those on this path
	for i, e := range inside {
		if i == 0 || inside[i-1].Path != e.Path {
			removed = 0
		}
		if removed == 0 && !e.Node.Exists() {
			removed = e.Removed
		}
		if i+1 < len(inside) && inside[i+1].Path == e.Path {
			continue // a later one on this path follows
		}
		old := now.Get(e.Path)
		if old == e.Node || e.Node.Exists() && e.Node.Revision <= old.Revision {
			continue
		}
		if changes == nil {
			changes = make([]registry.Change, 0, len(inside)-i)
		}
		change := registry.Change{Old: old, New: e.Node}
		if !e.Node.Exists() {
			change.Removed = removed
		}
		changes = append(changes, change)
	}
	return changes
}
