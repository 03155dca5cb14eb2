package zkcompat

import (
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// A view waits for a moment in which nothing is under way for as long as unsettled, and for so many turns in
// which something came meanwhile, before it shows what it has: on a busy machine a single turn may take longer.
const (
	unsettled      = 100 * time.Millisecond
	unsettledTurns = 16
)

// hub feeds all views of a handle, from one goroutine and one connection. The views of a path share a
// copy of the subtree.
//
// The server tells of every change below the roots, and the client hears of it before any answer that
// shows a newer state. So when no event waits to be looked into and no read is under way, the copies
// are the state of the store as of the last answer: that is when views move on. While changes come
// without a pause, that moment may not come; views then show what has been read, after a while.
type hub struct {
	r    *Registry
	wg   sync.WaitGroup
	wake chan struct{} // holds one

	// Used by the hub's goroutine alone.
	link  *link
	epoch int
	busy  bool      // the copies are not settled
	since time.Time // since when
	turns int       // how many there were since

	mu     sync.Mutex
	closed bool
	queue  []event
	roots  map[string]*root // by znode
	left   []string         // former roots that the server still watches
	done   []*loaded        // copies that were read
}

// event is what the server told of a znode.
type event struct {
	link *link
	path string
	gone bool
}

func newHub(r *Registry) *hub {
	return &hub{r: r, wake: make(chan struct{}, 1), roots: make(map[string]*root)}
}

// hear takes in an event from the client, in between two answers.
func (h *hub) hear(l *link, e zk.Event) {
	switch e.Type {
	case zk.EventNodeCreated, zk.EventNodeDataChanged, zk.EventNodeDeleted:
		h.mu.Lock()
		h.queue = append(h.queue, event{l, e.Path, e.Type == zk.EventNodeDeleted})
		h.mu.Unlock()
		h.wakeUp()
	}
}

// wakeUp has the hub look what there is to do.
func (h *hub) wakeUp() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *hub) run() {
	for h.r.life.Err() == nil {
		for h.r.life.Err() == nil && h.turn() {
		}
		select {
		case <-h.wake:
		case <-h.r.life.Done():
		}
	}
}

// turn takes one step towards a settled state. It is false if there is nothing more to do for now.
func (h *hub) turn() bool {
	l, epoch, ok := h.r.keeper.present()
	if !ok {
		return false
	}
	if l != h.link || epoch != h.epoch {
		h.link, h.epoch, h.busy = l, epoch, false
		h.restart()
	}
	h.dismiss(l)
	before := l.seen()
	work := h.gather(l)
	h.refuse()
	if work.empty() && !h.busy {
		return false
	}
	if !h.busy { // else the last turn did not show what it read, and what came meanwhile may concern no copy any more
		h.busy, h.since, h.turns = true, time.Now(), 0
	}
	h.turns++
	read, err := h.read(l, work)
	if err != nil { // the connection is gone, or the server refuses: then all is read again
		h.restart()
		return remote.Sleep(h.r.life, remote.FirstBackoff)
	}
	h.apply(work, read, l.seen())
	return h.publish(l, before)
}

// work is what one turn has to do.
type work struct {
	dirty  map[string]bool // znodes to be looked at; true if known to be gone
	merged bool            // a copy has come
	asked  bool            // somebody wants a newer revision, or a first state
}

func (w work) empty() bool { return len(w.dirty) == 0 && !w.merged && !w.asked }

// restart has every copy read again, on a connection that knows nothing of watches yet.
func (h *hub) restart() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queue, h.done = nil, nil
	for _, root := range h.roots {
		root.unload()
	}
}

// gather takes over what has happened since the last turn.
func (h *hub) gather(l *link) work {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := work{dirty: make(map[string]bool)}
	for _, root := range h.roots {
		if root.state == rootNew {
			root.state = rootLoading
			root.number++
			number, epoch := root.number, h.epoch
			h.wg.Go(func() { h.load(l, epoch, root, number) })
		}
	}
	events := h.queue
	h.queue = nil
	for _, e := range events {
		if e.link != l {
			continue
		}
		for _, root := range h.above(e.path) {
			if root.state == rootLoading {
				root.late[e.path] = true
			} else {
				w.dirty[e.path] = e.gone
			}
		}
	}
	for _, c := range h.done {
		if c.root.number != c.number || c.root.state != rootLoading {
			continue
		}
		if c.err != nil {
			c.root.unload()
			h.wakeUp() // to read it again: of this turn there may be nothing more to do, and then nobody else would
			continue
		}
		w.merged = true
		c.root.take(l, h.epoch, c.found)
		for path := range c.root.late {
			w.dirty[path] = false
		}
		clear(c.root.late)
	}
	h.done = nil
	for _, root := range h.roots {
		w.asked = root.takeAsk() || w.asked
	}
	return w
}

// dismiss has the server tell no more of what nobody follows.
func (h *hub) dismiss(l *link) {
	h.mu.Lock()
	left := h.left
	h.left = nil
	h.mu.Unlock()
	w := l.present(h.epoch)
	for _, path := range left {
		h.mu.Lock()
		root := h.roots[path]
		h.mu.Unlock()
		if w != nil && root == nil {
			_ = w.unwatch(path) // if that fails, its events are for nobody
		}
	}
}

// refuse ends the views of what the server does not let this client read.
func (h *hub) refuse() {
	h.mu.Lock()
	ends := make(map[*follower]error)
	for _, root := range h.roots {
		for f := range root.followers {
			if root.refused != nil {
				ends[f] = root.refused
			}
		}
	}
	h.mu.Unlock()
	for f, reason := range ends {
		h.end(f, reason)
	}
}

// above returns the roots whose subtrees a znode is in. The caller holds mu.
func (h *hub) above(path string) []*root {
	var found []*root
	for at := path; ; at = parentOf(at) {
		if root := h.roots[at]; root != nil {
			found = append(found, root)
		}
		if at == "/" {
			return found
		}
	}
}

// loaded is a copy of a subtree that was read.
type loaded struct {
	root   *root
	number int
	found  map[string]znode
	err    error
}

// load has the server tell of changes of a subtree, and then reads it.
func (h *hub) load(l *link, epoch int, root *root, number int) {
	c := &loaded{root: root, number: number, err: zk.ErrConnectionClosed}
	if w := l.present(epoch); w != nil {
		if c.err = w.watch(root.path); c.err == nil {
			c.found, c.err = walk(h.r.life, l, root.path)
		}
	}
	if c.err != nil {
		remote.Sleep(h.r.life, remote.FirstBackoff)
	}
	h.mu.Lock()
	root.refused = refusal(c.err)
	h.done = append(h.done, c)
	h.mu.Unlock()
	h.wakeUp()
}

// read looks at what has changed. With nothing to read it still asks the server something: the answer
// shows that all events before it have come.
func (h *hub) read(l *link, w work) (map[string]znode, error) {
	var paths []string
	read := make(map[string]znode, len(w.dirty))
	for path, gone := range w.dirty {
		if gone {
			read[path] = znode{}
		} else {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return read, l.sync(h.r.life)
	}
	found := make([]znode, len(paths))
	err := each(h.r.life, len(paths), func(i int) (err error) {
		found[i], err = get(l.conn, paths[i])
		return err
	})
	if err == nil && w.asked {
		err = l.sync(h.r.life)
	}
	for i, path := range paths {
		read[path] = found[i]
	}
	return read, err
}

// apply brings the copies up to date.
func (h *hub) apply(w work, read map[string]znode, answered registry.Revision) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, root := range h.roots {
		if w.asked && root.asking && root.asked == 0 && root.state == rootLoaded {
			root.asked = answered
		}
	}
	for _, mother := range []bool{false, true} { // znodes first, then what they tell of their parents
		for path, z := range read {
			for _, root := range h.above(path) {
				switch {
				case root.state != rootLoaded:
				case mother:
					root.setParent(path)
				default:
					root.set(path, z)
				}
			}
		}
	}
}

// publish shows the copies if they are settled, or have not been for too long. It is true if there is
// more to do at once. before is a revision up to which all is surely in the copies.
func (h *hub) publish(l *link, before registry.Revision) bool {
	at := l.seen() // read before the queue, whose events are then already there
	_, epoch, ok := h.r.keeper.present()
	h.mu.Lock()
	settled := ok && epoch == h.epoch && len(h.queue) == 0
	if !settled {
		if !ok || epoch != h.epoch || time.Since(h.since) < unsettled || h.turns < unsettledTurns {
			h.mu.Unlock()
			return true
		}
		at = before
	}
	h.busy, h.since, h.turns = !settled, time.Now(), 0
	var shows []func()
	for _, root := range h.roots {
		if root.state == rootLoaded {
			shows = append(shows, root.show(at)...)
		}
	}
	h.mu.Unlock()
	for _, show := range shows { // without the lock: subscribers may call anything
		show()
	}
	return true
}

// shows returns a znode as the copies have it, on the connection that a commit will use.
func (h *hub) shows(l *link, path string) (znode, bool) {
	_, epoch, ok := h.r.keeper.present()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, root := range h.above(path) {
		if ok && root.state == rootLoaded && root.link == l && root.epoch == epoch {
			z := root.nodes[path]
			return z, true
		}
	}
	return znode{}, false
}

// close ends all views. Wait returns when nothing of the hub runs, which needs the link to be closed.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	var all []*follower
	for _, root := range h.roots {
		for f := range root.followers {
			all = append(all, f)
		}
	}
	h.mu.Unlock()
	for _, f := range all {
		h.end(f, registry.ErrClosed)
	}
}
