package etcd

import (
	"context"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// maxNarrowWatches is up to how many subtrees are watched one by one. Beyond, a single watch of the namespace
// serves all views: it brings more than is asked for, but etcd serves one watch with many events
// much better than many watches, and keeps few of them in step when a burst comes.
const maxNarrowWatches = 16

// maxPartWatches is how many more watches a handle may have for views of parts. They pay where many processes share a
// few large jobs: the store then sends each process only what its parts need.
const maxPartWatches = 64

// hub feeds all views of a handle by as few watches as sensible. There is a goroutine for each watch
// and one that looks after them, and none for a view.
type hub struct {
	r  *Registry
	wg sync.WaitGroup

	lives backend.Lives // of the views

	mu            sync.Mutex
	closed        bool
	watches       map[*watch]bool
	parts         int                 // how many of them bring parts
	waiting       map[*follower]*want // whose views are to reach a revision
	looks         time.Time           // when the goroutine looks at these next; zero = when it is told to
	progress      progress
	own           ownCommits
	lastActivity  time.Time     // when a watch last brought anything
	silentStreams int           // streams in a row that were given up without a sign of life
	quiet         bool          // the stream was changed as the store is quiet, and has not said since how far the watches are
	wake          chan struct{} // of size 1: tells the goroutine to look
	watchdogRuns  bool
}

func newHub(r *Registry) *hub {
	return &hub{
		r: r, watches: make(map[*watch]bool), waiting: make(map[*follower]*want), wake: make(chan struct{}, 1),
	}
}

// join has a held follower hear of all that happens in its subtree from now on.
func (h *hub) join(ctx context.Context, f *follower) error {
	if joined, err := h.joinPresent(f); joined || err != nil {
		return err
	}
	// A watch without a start shows the past again after a broken connection, so the start is read.
	start, err := h.r.revision(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	switch w := h.covering(f.root); {
	case h.closed:
		return registry.ErrClosed
	case w != nil:
		w.add(f)
	case len(h.watches)-h.parts < maxNarrowWatches:
		h.watchAll(f.root, start).add(f)
	default:
		h.widen(start).add(f)
	}
	return nil
}

func (h *hub) joinPresent(f *follower) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false, registry.ErrClosed
	}
	w := h.covering(f.root)
	if w == nil {
		return false, nil
	}
	w.add(f)
	return true, nil
}

func (h *hub) covering(root string) *watch {
	for w := range h.watches {
		if !w.part && registry.Within(root, w.root) {
			return w
		}
	}
	return nil
}

// watchAll starts a watch of what changes in a subtree after a revision. The caller holds mu.
func (h *hub) watchAll(root string, after int64) *watch {
	return h.watch(newWatch(h, root, h.r.ns.rangeAround(root), after))
}

// watch starts a watch. The caller holds mu.
func (h *hub) watch(w *watch) *watch {
	if !h.watchdogRuns {
		h.watchdogRuns = true
		h.wg.Go(h.watchdog)
	}
	h.watches[w] = true
	if w.part {
		h.parts++
	}
	h.lastActivity = time.Now()
	h.wg.Go(w.run)
	return w
}

// noteActivity takes note of a sign of life, which may be an answer to the question how far the watches are.
func (h *hub) noteActivity(progress bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lastActivity, h.silentStreams = time.Now(), 0
	if progress {
		h.quiet = false
		h.progress.answered(h.lastActivity)
	}
}

// widen replaces all watches by one of the namespace. The views change over to it as new ones join:
// held, and brought up to date by a fresh copy. The caller holds mu.
func (h *hub) widen(after int64) *watch {
	old := h.watches
	h.watches, h.parts = make(map[*watch]bool), 0
	wide := h.watchAll(registry.Root, after)
	moves := make(map[*follower]bool)
	for w := range old {
		for f := range w.all() {
			moves[f] = true
		}
		w.stop()
	}
	var moved []*follower
	for f := range moves {
		f.holdWhole()
		f.watches = nil
		wide.add(f)
		moved = append(moved, f)
	}
	h.wg.Go(func() { wide.renew(moved) })
	return wide
}

// leave takes in that a view has ended. It does not wait for the watch.
func (h *hub) leave(f *follower) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.waiting, f)
	watches := f.watches
	if watches == nil {
		return
	}
	f.watches = nil
	f.life.Unbind(f.feed)
	for _, w := range watches {
		if w.remove(f); !w.empty() {
			continue
		}
		if h.watches[w] && w.part {
			h.parts--
		}
		delete(h.watches, w)
		w.stop()
	}
}

// bind has the view end with its context. It returns why it is over already, or nil.
func (h *hub) bind(ctx context.Context, f *follower) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f.watches != nil { // it has not ended yet
		f.life = h.lives.Bind(ctx, f.feed)
	}
	for _, w := range f.watches {
		if w.over != nil {
			return w.over
		}
	}
	if h.r.life.Err() != nil { // the hub may have ended its views just before this one was there
		return registry.ErrClosed
	}
	return nil
}

// close ends all views and returns when no goroutine is left.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	var all []*follower
	for w := range h.watches {
		for f := range w.all() {
			all = append(all, f)
		}
		w.stop()
	}
	h.mu.Unlock()
	for _, f := range all {
		f.end(registry.ErrClosed)
	}
	h.wg.Wait()
}
