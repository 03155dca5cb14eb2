package zkcompat

import (
	"context"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// follower is one view on the side of its hub. All but ready is guarded by the hub's mutex.
type follower struct {
	hub    *hub
	root   *root
	except []func(path string) bool // what the view does not show
	ready  chan struct{}            // closed when there is a view, or a reason why there is none

	asking bool           // the server was asked for its present revision since the view was wanted
	view   *registry.View // nil before the first state
	feed   *backend.Feed
	failed error
	life   *backend.Life // of the view's context; nil until it has one
}

// View implements [registry.Viewer].
func (r *Registry) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	v, err := r.view(ctx, path, except)
	return v, r.opError(registry.OpView, path, err)
}

func (r *Registry) view(ctx context.Context, path string, except []func(path string) bool) (*registry.View, error) {
	if err := backend.CheckSubtree(path); err != nil {
		return nil, err
	}
	f, err := r.hub.join(path, except)
	if err != nil {
		return nil, err
	}
	select {
	case <-f.ready:
	case <-ctx.Done():
		r.hub.leave(f)
		return nil, remote.GivenUp(ctx, registry.ErrUnavailable, nil)
	}
	return r.hub.bind(ctx, f)
}

// join adds a follower of the subtree at a path.
func (h *hub) join(path string, except []func(path string) bool) (*follower, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.r.life.Err() != nil {
		return nil, registry.ErrClosed
	}
	znode := h.r.ns.znode(path)
	root := h.roots[znode]
	if root == nil {
		root = newRoot(h.r.ns, znode)
		h.roots[znode] = root
	}
	f := &follower{hub: h, root: root, except: except, ready: make(chan struct{})}
	root.followers[f] = true
	root.ask = true
	h.stirred[root] = true
	h.wakeUp()
	return f, nil
}

// bind has the view end with its context.
func (h *hub) bind(ctx context.Context, f *follower) (*registry.View, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.view == nil {
		return nil, f.failed
	}
	f.life = h.lives.Bind(ctx, f.feed)
	return f.view, nil
}

// begins tells whether the view begins with the state that is shown, as the server's answer is or is not in it. One whose
// wait has ended never does: it is about to leave. The caller holds the hub's mutex.
func (f *follower) begins(answered bool) bool {
	return f.feed == nil && f.failed == nil && f.asking && answered
}

// start makes the view. The caller holds the hub's mutex.
func (f *follower) start(first registry.Snapshot) {
	path := f.root.ns.path(f.root.path)
	f.view, f.feed = backend.NewView(path, first, f.advance, func() { f.hub.leave(f) }, f.except...)
	close(f.ready)
}

// advance asks for a revision that the view has not reached. One look at the server is enough for every
// revision that anybody has seen, and none is needed for one that this handle has.
func (f *follower) advance(_ context.Context, to registry.Revision) {
	f.hub.mu.Lock()
	f.root.wanted = max(f.root.wanted, to)
	f.hub.stirred[f.root] = true
	f.hub.mu.Unlock()
	f.hub.wakeUp()
}

// end ends a view, or the wait for it. The caller does not hold the hub's mutex.
func (h *hub) end(f *follower, reason error) {
	h.mu.Lock()
	feed := f.feed
	if feed == nil && f.failed == nil {
		f.failed = reason
		close(f.ready)
	}
	h.mu.Unlock()
	if feed != nil {
		feed.End(reason)
		return
	}
	h.leave(f)
}

// leave forgets a view that has ended.
func (h *hub) leave(f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f.life.Unbind(f.feed)
	if !f.root.followers[f] {
		return
	}
	delete(f.root.followers, f)
	if len(f.root.followers) == 0 && h.roots[f.root.path] == f.root {
		delete(h.roots, f.root.path)
		delete(h.stirred, f.root)
		h.left = append(h.left, f.root.path)
		h.wakeUp()
	}
}
