package registry

import (
	"context"
	"slices"
	"strings"

	"github.com/tidwall/btree"
)

// Feed is the backend's side of a [View]: it brings the view new states. Calls must come one after
// the other, in the order of the store. It is for backends.
type Feed struct{ v *View }

// NewView makes a view of the subtree at path that shows first. advance is called when somebody
// waits for a revision that the view has not reached, and should have the backend confirm it through
// the feed soon, even if nothing changes in the subtree; it must not block for long. closed is
// called once, when the view has ended, and must not wait for the goroutine that feeds it.
func NewView(path string, first Snapshot, advance func(ctx context.Context, to Revision), closed func()) (*View, *Feed) {
	v := &View{
		path: path, advance: advance, closed: closed, now: first,
		subs: make(map[int]func(Step)), moved: make(chan struct{}), done: make(chan struct{}),
	}
	return v, &Feed{v}
}

// Event is one node's new state: a put, or a removal if Node does not exist. It is for backends.
type Event struct {
	Path string
	Node Node
}

// Apply brings the view to revision by events, of which the last on a path counts. Events outside
// the subtree and events that the view already shows are left out, and a revision that is not newer
// than the view's changes nothing, so a watch may safely repeat itself.
func (f *Feed) Apply(revision Revision, events []Event) {
	f.v.deliver.Lock()
	defer f.v.deliver.Unlock()
	now := f.v.Snapshot()
	if revision <= now.revision {
		return
	}
	next, changes := now.apply(f.v.path, revision, events)
	f.publish(Step{Snapshot: next, Changes: changes})
}

// Replace brings the view to a fresh copy of the subtree, and shows only what differs. A copy older
// than what the view shows is left out.
func (f *Feed) Replace(fresh Snapshot) {
	f.v.deliver.Lock()
	defer f.v.deliver.Unlock()
	now := f.v.Snapshot()
	if fresh.revision < now.revision {
		return
	}
	f.publish(Step{Snapshot: fresh, Changes: difference(now, fresh)})
}

// Confirm tells that nothing in the subtree changed up to revision.
func (f *Feed) Confirm(revision Revision) { f.Apply(revision, nil) }

// Revision returns the revision that the view has reached.
func (f *Feed) Revision() Revision { return f.v.Snapshot().Revision() }

// End ends the view for a reason that its Err will give.
func (f *Feed) End(reason error) { f.v.end(reason) }

// publish tells the subscribers, if there is something to tell, and then shows the state: whoever
// waited for it finds that the subscribers know. The caller holds deliver.
func (f *Feed) publish(s Step) {
	v := f.v
	for _, fn := range v.subscribers(len(s.Changes) > 0) {
		fn(s)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = s.Snapshot
	close(v.moved)
	v.moved = make(chan struct{})
}

// apply returns the state after events, and the changes in ascending order of paths.
func (s Snapshot) apply(root string, revision Revision, events []Event) (Snapshot, []Change) {
	next := Snapshot{revision: revision, nodes: s.nodes}
	last := make(map[string]Node, len(events))
	for _, e := range events {
		if Within(e.Path, root) {
			last[e.Path] = e.Node
		}
	}
	var changes []Change
	for path, n := range last {
		old := s.Get(path)
		if old == n || n.Exists() && n.Revision <= old.Revision {
			continue
		}
		changes = append(changes, Change{Old: old, New: n})
	}
	if len(changes) == 0 {
		return next, nil
	}
	slices.SortFunc(changes, byPath)
	next.nodes = s.copyNodes()
	for _, c := range changes {
		if c.New.Exists() {
			next.nodes.Set(c.New.Path, c.New)
		} else {
			next.nodes.Delete(c.Old.Path)
		}
	}
	return next, changes
}

// copyNodes returns a tree that shares all it can with this one, which stays as it is.
func (s Snapshot) copyNodes() *btree.Map[string, Node] {
	if s.nodes == nil {
		return new(btree.Map[string, Node])
	}
	return s.nodes.Copy()
}

// difference lists what turns one state into another, in ascending order of paths.
func difference(from, to Snapshot) []Change {
	var changes []Change
	for old := range from.All() {
		if n := to.Get(old.Path); n != old {
			changes = append(changes, Change{Old: old, New: n})
		}
	}
	for n := range to.All() {
		if !from.Get(n.Path).Exists() {
			changes = append(changes, Change{New: n})
		}
	}
	slices.SortFunc(changes, byPath)
	return changes
}

func byPath(a, b Change) int { return strings.Compare(a.Path(), b.Path()) }
