package main

import (
	"context"
	"sync"

	"github.com/elasticron/elasticron/console/client"
	"github.com/elasticron/elasticron/registry"
)

// follower shows a namespace as it changes.
type follower interface {
	// now returns the newest state that is known.
	now() registry.Snapshot
	// newer returns when there is a newer state than the one that now returned last, or the context ends.
	newer(ctx context.Context) error
	// answers returns when the registry has answered, and now returns nothing older than that; or why it does not answer. again
	// tells that it did not before. It may be called beside the others.
	answers(ctx context.Context, again bool) error
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
	return &byView{at: at, view: view}, nil
}

// byView follows a registry.
type byView struct {
	at    registry.Reader
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

func (f *byView) answers(ctx context.Context, _ bool) error { return answered(ctx, f.at, f.view) }

// answered asks a registry, and waits until a view of it shows what it answers: the watches of one that is back begin later.
func answered(ctx context.Context, reg registry.Reader, view *registry.View) error {
	_, revision, err := reg.List(ctx, nobodyWrites)
	if err != nil {
		return err
	}
	return view.WaitRevision(ctx, revision)
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

	mu    sync.Mutex
	fresh registry.Snapshot // read when the server was back
}

type answer struct {
	shown registry.Snapshot
	err   error
}

func (f *byServer) now() registry.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fresh.Revision() > f.shown.Revision() {
		f.shown = f.fresh
	}
	return f.shown
}

// answers reads everything from a server that is back, or whose registry is: what newer waits for may take longer to come.
func (f *byServer) answers(ctx context.Context, again bool) error {
	path := nobodyWrites
	if again {
		path = registry.Root
	}
	nodes, revision, err := f.server.List(ctx, path)
	if err != nil || !again {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fresh = registry.NewSnapshot(revision, nodes)
	return nil
}

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
		if got.err == nil && got.shown.Revision() > f.shown.Revision() { // which may have been read meanwhile
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
