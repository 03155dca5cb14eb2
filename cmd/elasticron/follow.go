package main

import (
	"context"
	"errors"
	"fmt"
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

// errWentBack says that a registry was emptied, or restored from a backup: views of it wait for revisions that they have seen.
var errWentBack = errors.New("the registry has gone back to an earlier state, so what changes is not shown: begin again")

// answered asks a registry, and waits until a view of it shows what it answers: the watches of one that is back begin later.
func answered(ctx context.Context, reg registry.Reader, view *registry.View) error {
	seen := view.Snapshot().Revision()
	_, revision, err := reg.List(ctx, nobodyWrites)
	if err != nil {
		return err
	}
	if revision < seen {
		return fmt.Errorf("%w (it is at revision %d, and was at %d)", errWentBack, revision, seen)
	}
	return view.WaitRevision(ctx, revision)
}

func (f *byView) close() { f.view.Close() }

// byServer asks a server, which answers when something has changed. An answer may take longer to come than one call of
// newer lasts, so it is awaited by the next one, too.
type byServer struct {
	server *client.Namespace
	ctx    context.Context //nolint:containedctx // until close
	cancel context.CancelFunc
	asked  *question // nil: nothing is

	mu    sync.Mutex
	shown registry.Snapshot
	// fresh was read when the server was back; nil = nothing was. It may be older than what is shown: another registry is behind
	// the server, or an older state of the same one.
	fresh *registry.Snapshot
}

// question is what the server is asked for.
type question struct {
	than   registry.Revision
	cancel context.CancelFunc
	answer chan answer
}

type answer struct {
	shown registry.Snapshot
	err   error
}

func (f *byServer) now() registry.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fresh != nil {
		f.shown, f.fresh = *f.fresh, nil
	}
	return f.shown
}

// answers reads everything from a server that is back, or whose registry is, or has gone back: what newer waits for may take
// longer to come, or never come.
func (f *byServer) answers(ctx context.Context, again bool) error {
	f.mu.Lock()
	before := f.shown.Revision()
	f.mu.Unlock()
	_, revision, err := f.server.List(ctx, nobodyWrites)
	if err != nil || !again && revision >= before {
		return err
	}
	nodes, revision, err := f.server.List(ctx, registry.Root)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if revision < before || revision > f.shown.Revision() { // else newer was faster
		f.fresh = new(registry.NewSnapshot(revision, nodes))
	}
	return nil
}

func (f *byServer) newer(ctx context.Context) error { //nolint:contextcheck // what is asked may outlast a call
	f.mu.Lock()
	than := f.shown.Revision()
	f.mu.Unlock()
	if f.asked != nil && f.asked.than > than { // the answer may never come
		f.asked.cancel()
		<-f.asked.answer
		f.asked = nil
	}
	if f.asked == nil {
		asking, cancel := context.WithCancel(f.ctx)
		f.asked = &question{than: than, cancel: cancel, answer: make(chan answer, 1)}
		go func(asked chan<- answer) {
			nodes, revision, err := f.server.Newer(asking, than)
			asked <- answer{registry.NewSnapshot(revision, nodes), err}
		}(f.asked.answer)
	}
	select {
	case got := <-f.asked.answer:
		f.asked.cancel()
		f.asked = nil
		f.mu.Lock()
		defer f.mu.Unlock()
		if got.err == nil && got.shown.Revision() > f.shown.Revision() { // which may have been read meanwhile
			f.shown = got.shown
			if f.fresh != nil && f.fresh.Revision() <= got.shown.Revision() { // if it was of another registry, the next answer tells
				f.fresh = nil
			}
		}
		return got.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (f *byServer) close() {
	f.cancel()
	if f.asked != nil {
		<-f.asked.answer
	}
}
