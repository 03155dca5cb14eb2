package memory

import (
	"context"
	"slices"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// View implements [registry.Viewer]. It shows every revision, except those that it misses because
// the server forgot them.
func (r *Registry) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
	return r.follower(ctx, path, &follower{}, except)
}

// ViewParts implements [registry.Narrower]. What happens beside the parts does not reach the view, not even as a
// revision: a store that sends less tells less.
func (r *Registry) ViewParts(ctx context.Context, path string, parts []registry.Part, except ...func(path string) bool) (*registry.View, error) {
	outside := registry.Outside(parts)
	return r.follower(ctx, path, &follower{unsent: outside}, append(slices.Clone(except), outside))
}

// Narrows implements [registry.Narrower].
func (r *Registry) Narrows(int) bool { return true }

// follower opens the view of a follower.
func (r *Registry) follower(ctx context.Context, path string, f *follower, except []func(path string) bool) (*registry.View, error) {
	nodes, revision, err := r.list(ctx, registry.OpView, path)
	if err != nil {
		return nil, err
	}
	f.view, f.feed = backend.NewView(path, registry.NewSnapshot(revision, nodes),
		func(_ context.Context, to registry.Revision) { r.await(f, to) },
		func() { r.forget(f) }, except...)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closing {
		return nil, &registry.OpError{Op: registry.OpView, Path: path, Err: registry.ErrClosed}
	}
	f.life = r.lives.Bind(ctx, f.feed)
	r.views.add(f)
	r.news.wake()
	return f.view, nil
}

// await notes that somebody waits for the view to reach a revision.
func (r *Registry) await(f *follower, to registry.Revision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.views.awaited[f] = max(r.views.awaited[f], to)
	r.news.wake()
}

// forget drops a view that has ended.
func (r *Registry) forget(f *follower) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.life.Unbind(f.feed)
	r.views.remove(f)
}

func (r *Registry) allViews() []*follower {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.views.all()
}
