package etcd

import (
	"context"
	"sync"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// View implements [registry.Viewer]: one read of the subtree, and from then on the watch that it
// shares with other views of the handle.
func (r *Registry) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	v, err := r.view(ctx, path, except)
	return v, r.opError(registry.OpView, path, err)
}

func (r *Registry) view(ctx context.Context, path string, except []func(path string) bool) (*registry.View, error) {
	if err := backend.CheckSubtree(path); err != nil {
		return nil, err
	}
	f := newFollower(path, except)
	if err := r.hub.join(ctx, f); err != nil {
		return nil, err
	}
	first, err := r.snapshot(ctx, path)
	if err != nil {
		r.hub.leave(f)
		return nil, err
	}
	return r.started(ctx, f, first), nil
}

// started starts a follower that has joined. Its view ends with the context.
func (r *Registry) started(ctx context.Context, f *follower, first registry.Snapshot) *registry.View {
	v := f.start(first, r.hub)
	if over := r.hub.bind(ctx, f); over != nil {
		f.feed.End(over)
	}
	return v
}

func (r *Registry) snapshot(ctx context.Context, path string) (registry.Snapshot, error) {
	nodes, revision, err := r.list(ctx, path)
	return registry.NewSnapshot(revision, nodes), err
}

// follower is one view on the side of its hub. While it is held, what the watch brings is buffered
// until a fresh copy of the subtree has come; so a copy may be read while a watch runs on, and
// nothing falls between the two.
type follower struct {
	root   string
	except []func(path string) bool // what the view does not show
	ranges []keyRange               // what it follows of the subtree, if not all; see [Registry.ViewParts]
	feed   *backend.Feed            // set by start; nil before

	mu    sync.Mutex
	joint *joint            // what its watches have brought, if each brings a part; nil = one brings all
	holds int               // copies under way
	held  []update          // in the order of their arrival
	fresh registry.Snapshot // the newest copy that came before the view was there

	// Guarded by the hub's mutex.
	watches []*watch          // that it follows; nil when it has left
	wanted  registry.Revision // that somebody waits for
	came    registry.Revision // that a view of parts had reached when it was last looked at
	life    *backend.Life     // of the view's context; nil until it has one
}

// update is what the store became at a revision.
type update struct {
	revision registry.Revision
	events   []backend.Event
	at       []registry.Revision // of the events, if they are a part of what a view shows; nil else
}

// newFollower returns one that is held until start.
func newFollower(root string, except []func(path string) bool) *follower {
	return &follower{root: root, except: except, holds: 1}
}

// hold buffers what comes from now on. Each hold must be followed by a release or an unhold.
func (f *follower) hold() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holds++
}

// start makes the view, of the newest copy, and ends the first hold.
func (f *follower) start(first registry.Snapshot, h *hub) *registry.View {
	f.mu.Lock()
	if f.fresh.Revision() > first.Revision() {
		first = f.fresh
	}
	advance := func(_ context.Context, to registry.Revision) { h.awaitRevision(f, to) }
	view, feed := backend.NewView(f.root, first, advance, func() { h.leave(f) }, f.except...)
	f.feed = feed
	f.mu.Unlock()
	f.unhold()
	return view
}

// release shows a fresh copy, read after the hold, and then what was buffered.
func (f *follower) release(fresh registry.Snapshot) {
	f.mu.Lock()
	feed := f.feed
	if feed == nil && fresh.Revision() > f.fresh.Revision() {
		f.fresh = fresh
	}
	if f.joint != nil {
		f.joint.shown(fresh.Revision())
	}
	f.mu.Unlock()
	if feed != nil {
		feed.Replace(fresh, nil)
	}
	f.unhold()
}

// unhold ends a hold and, if it was the last, shows what was buffered.
func (f *follower) unhold() {
	for {
		f.mu.Lock()
		if f.holds > 1 || len(f.held) == 0 {
			f.holds--
			f.mu.Unlock()
			return
		}
		held := f.held
		f.held = nil
		f.mu.Unlock()
		for _, u := range held { // without the lock: subscribers may call anything
			f.feed.Apply(u.revision, u.events)
		}
	}
}

// deliver shows what a watch brought, or buffers it. It returns the revisions among that which the other watches of the
// view have to reach first.
func (f *follower) deliver(w *watch, u update) (awaits []registry.Revision) {
	if w.part {
		return f.deliverPart(w, u)
	}
	f.mu.Lock()
	if f.holds > 0 {
		f.held = append(f.held, u)
		f.mu.Unlock()
		return nil
	}
	f.mu.Unlock()
	f.feed.Apply(u.revision, u.events)
	return nil
}

// end ends the view, if there is one yet.
func (f *follower) end(reason error) {
	f.mu.Lock()
	feed := f.feed
	f.mu.Unlock()
	if feed != nil {
		feed.End(reason)
	}
}

// reached returns the revision that the view shows.
func (f *follower) reached() registry.Revision {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.feed == nil {
		return 0
	}
	return f.feed.Revision()
}
