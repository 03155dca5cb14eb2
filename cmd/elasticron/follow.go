package main

import (
	"context"

	"github.com/elasticron/elasticron/console/client"
	"github.com/elasticron/elasticron/registry"
)

// follower shows a namespace as it changes.
type follower interface {
	// now returns the newest state that is known.
	now() registry.Snapshot
	// newer returns when there is a newer state than the one that now returned last, or the context ends.
	newer(ctx context.Context) error
	close()
}

// following follows a place.
func following(ctx context.Context, at place) (follower, error) {
	if server, is := at.(*client.Namespace); is {
		nodes, revision, err := server.List(ctx, registry.Root)
		if err != nil {
			return nil, err
		}
		f := &byServer{server: server, shown: registry.NewSnapshot(revision, nodes)}
		f.ctx, f.cancel = context.WithCancel(ctx)
		return f, nil
	}
	if all, is := at.(*registries); is {
		return all.follow(ctx)
	}
	view, err := at.(registry.Viewer).View(ctx, registry.Root)
	if err != nil {
		return nil, err
	}
	return &byView{view: view}, nil
}

// byView follows a registry.
type byView struct {
	view  *registry.View
	shown registry.Revision
}

func (f *byView) now() registry.Snapshot {
	s := f.view.Snapshot()
	f.shown = s.Revision()
	return s
}

func (f *byView) newer(ctx context.Context) error {
	_, err := f.view.WaitFor(ctx, func(s registry.Snapshot) bool { return s.Revision() != f.shown })
	return err
}

func (f *byView) close() { f.view.Close() }

// byServer asks a server, which answers when something has changed. An answer may take longer to come than one call of
// newer lasts, so it is awaited by the next one, too.
type byServer struct {
	server *client.Namespace
	shown  registry.Snapshot
	ctx    context.Context //nolint:containedctx // until close
	cancel context.CancelFunc
	asked  chan answer // nil: nothing is
}

type answer struct {
	shown registry.Snapshot
	err   error
}

func (f *byServer) now() registry.Snapshot { return f.shown }

func (f *byServer) newer(ctx context.Context) error {
	if f.asked == nil {
		f.asked = make(chan answer, 1)
		go func(asked chan<- answer, than registry.Revision) {
			nodes, revision, err := f.server.Newer(f.ctx, than)
			asked <- answer{registry.NewSnapshot(revision, nodes), err}
		}(f.asked, f.shown.Revision())
	}
	select {
	case got := <-f.asked:
		f.asked = nil
		if got.err == nil {
			f.shown = got.shown
		}
		return got.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *byServer) close() {
	f.cancel()
	if f.asked != nil {
		<-f.asked
	}
}
