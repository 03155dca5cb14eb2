package simulation_test

import (
	"context"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// behindBy is how long a view of parts is behind with begins and ends, as one of etcd is with those of its own process.
const behindBy = 100 * time.Millisecond

// behind is a view that shows what another one shows, but begins and ends later, unless something else is shown after
// them or somebody waits for them.
type behind struct {
	of   *registry.View
	feed *backend.Feed

	mu    sync.Mutex
	held  registry.Snapshot // the newest that was held back
	timer *time.Timer       // shows it; nil = it is shown
}

func newBehind(of *registry.View) *registry.View {
	b := &behind{of: of}
	view, feed := backend.NewView(of.Path(), of.Snapshot(), b.advance, b.closed)
	b.feed = feed
	of.Subscribe(b.step)
	of.AfterEnd(feed.End)
	return view
}

// step shows a step of the other view now, or later.
func (b *behind) step(s registry.Step) {
	for _, c := range s.Changes {
		switch name, _ := jobtree.Parse(c.Path()); name.Kind {
		case jobtree.KindItemRunning, jobtree.KindItemRecord:
		default:
			b.mu.Lock()
			defer b.mu.Unlock()
			b.show(s.Snapshot)
			return
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = s.Snapshot
	if b.timer == nil {
		b.timer = time.AfterFunc(behindBy, func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.show(b.held)
		})
	}
}

// show shows a state, and with it all that came before. The caller holds mu.
func (b *behind) show(s registry.Snapshot) {
	if b.timer != nil {
		b.timer.Stop()
		b.timer = nil
	}
	b.feed.Replace(s, nil)
}

// advance shows what somebody waits for as soon as the other view does.
func (b *behind) advance(ctx context.Context, to registry.Revision) {
	go func() {
		if b.of.WaitRevision(ctx, to) == nil {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.show(b.of.Snapshot())
		}
	}()
}

// closed ends the other view, too.
func (b *behind) closed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.timer != nil {
		b.timer.Stop()
	}
	go b.of.Close()
}
