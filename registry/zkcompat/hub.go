package zkcompat

import (
	"sync"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
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
// without a pause, that moment may not come; views then show what has been read, after a while. So they do while
// multis of this handle follow each other without a pause, and the event of one is there before the answer to the other:
// what waits for an answer is then read as well.
type hub struct {
	r     *Registry
	wg    sync.WaitGroup
	wake  chan struct{} // holds one
	lives backend.Lives // of the views

	// Used by the hub's goroutine alone.
	link  *link
	busy  bool      // the copies are not settled
	since time.Time // since when
	turns int       // how many there were since

	mu     sync.Mutex
	epoch  int // of link; the hub's goroutine sets it
	closed bool
	queue  []news
	fresh  map[string]znode // what answers in the queue tell, for commits
	roots  map[string]*root // by znode
	left   []string         // former roots that the server still watches
	done   []*loaded        // copies that were read

	stirred map[*root]bool    // that are to be looked at
	dirty   map[string]bool   // znodes that changed and are to be read
	writing map[string]int    // znodes that multis under way write, and how many operations
	held    map[string]bool   // those of them that changed
	unsure  bool              // a znode is gone, and no answer came since
	learned registry.Revision // all up to it is taken in on this connection, as the last answer said; 0 = none came
}

func newHub(r *Registry) *hub {
	return &hub{
		r: r, wake: make(chan struct{}, 1), roots: make(map[string]*root), fresh: make(map[string]znode),
		stirred: make(map[*root]bool), dirty: make(map[string]bool), writing: make(map[string]int), held: make(map[string]bool),
	}
}

// hear takes in an event from the client, in between two answers.
func (h *hub) hear(l *link, e zk.Event) {
	switch e.Type {
	case zk.EventNodeCreated, zk.EventNodeDataChanged:
		h.tell(news{kind: nodeChanged, link: l, path: e.Path})
	case zk.EventNodeDeleted:
		h.tell(news{kind: nodeGone, link: l, path: e.Path, at: registry.Revision(l.event.Load())})
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
		h.link, h.busy = l, false
		h.restart(epoch)
	}
	h.dismiss(l)
	before, overdue := l.seen(), h.overdue()
	work := h.gather(l, before, overdue)
	if work.failed {
		h.refuse()
	}
	if work.empty() && !h.busy {
		return false
	}
	if !h.busy { // else the last turn did not show what it read, and what came meanwhile may concern no copy any more
		h.busy, h.since, h.turns = true, time.Now(), 0
	}
	h.turns++
	if work.waits { // a read would be answered after the multis, too, and each answer brings a turn
		return false
	}
	if err := h.look(l, work); err != nil { // the connection is gone, or the server refuses: then all is read again
		h.restart(epoch)
		return remote.Sleep(h.r.life, remote.FirstBackoff)
	}
	h.note(work, l.seen())
	return h.publish(l, before, overdue)
}

// overdue tells whether views have waited long enough for a moment in which nothing is under way.
func (h *hub) overdue() bool {
	return h.busy && time.Since(h.since) >= unsettled && h.turns >= unsettledTurns
}

// work is what one turn has to do.
type work struct {
	paths  []string // znodes to be read
	heard  bool     // something was heard, or a copy has come
	asked  bool     // somebody wants a newer revision than answers have shown, or a first state
	wanted bool     // somebody wants one that they have shown
	unsure bool     // an answer is needed
	failed bool     // a copy could not be read
	waits  bool     // for the answer to a multi under way, and there is nothing else to do
}

func (w work) empty() bool {
	return len(w.paths) == 0 && !w.heard && !w.asked && !w.wanted && !w.unsure
}

// restart has every copy read again, on a connection that knows nothing of watches yet.
func (h *hub) restart(epoch int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.epoch = epoch
	h.queue, h.done, h.unsure, h.learned = nil, nil, false, 0
	clear(h.fresh)
	clear(h.dirty)
	clear(h.writing)
	clear(h.held)
	for _, root := range h.roots {
		root.unload()
		h.stirred[root] = true
	}
}

// gather takes over what has happened since the last turn.
// seen is a revision that answers have shown. What waits for the answer to a multi is overdue if nothing waits any more.
func (h *hub) gather(l *link, seen registry.Revision, overdue bool) work {
	h.mu.Lock()
	defer h.mu.Unlock()
	for root := range h.stirred {
		if h.roots[root.path] != root { // nobody follows it any more
			delete(h.stirred, root)
			continue
		}
		if root.state == rootNew {
			root.state = rootLoading
			root.number++
			number, epoch := root.number, h.epoch
			h.wg.Go(func() { h.load(l, epoch, root, number) })
		}
	}
	w := work{heard: h.learn(l)}
	for _, c := range h.done {
		if h.roots[c.root.path] != c.root || c.root.number != c.number || c.root.state != rootLoading {
			continue
		}
		h.stirred[c.root] = true
		if c.err != nil {
			w.failed = true
			c.root.unload()
			h.wakeUp() // to read it again: of this turn there may be nothing more to do, and then nobody else would
			continue
		}
		w.heard = true
		c.root.take(l, h.epoch, c.found)
		for path := range c.root.late {
			h.changed(path, false, 0)
			h.stale(parentOf(path)) // which may have been read before, and tells of what is gone
		}
		clear(c.root.late)
	}
	h.done = nil
	if overdue {
		for path := range h.held {
			h.stale(path)
		}
		clear(h.held)
	}
	for root := range h.stirred {
		w.asked = root.takeAsk(seen) || w.asked
		w.wanted = w.wanted || root.state == rootLoaded && root.wanted != 0
	}
	w.paths, w.unsure = sortedKeys(h.dirty), h.unsure
	w.waits = len(h.held) > 0 && len(w.paths) == 0 && !w.asked && !w.unsure
	return w
}

// dismiss has the server tell no more of what nobody follows. Nobody waits for its answers: the server takes requests in
// their order, and so a later watch of the same path after this.
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
			w.request(opRemoveWatches, watchRequest(path, watchAny), func(answer) {}) // if that fails, its events are for nobody
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
		if c.err = w.watch(h.r.life, root.path); c.err == nil {
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

// look reads what has changed. With nothing to read it asks the server something where an answer is needed: it
// shows that all events before it have come.
func (h *hub) look(l *link, w work) error {
	if w.asked || w.unsure && len(w.paths) == 0 {
		question := l.sync
		if w.asked { // a leader that the others have deposed does not know what they have committed since
			question = l.ballot
		}
		if err := question(h.r.life); err != nil {
			return err
		}
		h.mu.Lock()
		h.unsure = false // as it was at the beginning of the turn; what came since is still in the queue
		h.mu.Unlock()
	}
	return h.readAll(l, w.paths)
}

// readAll reads znodes, a good many with each request, and returns when the answers are in the queue.
func (h *hub) readAll(l *link, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	w := l.present(h.epoch)
	if w == nil {
		return zk.ErrConnectionClosed
	}
	answers := make(chan error, len(paths)) // nobody may be there any more to take them
	sent := 0
	for part := range requests(paths) {
		epoch := h.epoch
		if !w.request(opMultiRead, readRequest(opGetData, part), func(a answer) { answers <- h.hearRead(l, epoch, part, a) }) {
			return zk.ErrConnectionClosed
		}
		sent++
	}
	for range sent {
		select {
		case err := <-answers:
			if err != nil {
				return err
			}
		case <-h.r.life.Done():
			return errLeft
		}
	}
	return nil
}

// note notes of those who asked for the present revision which one it is.
func (h *hub) note(w work, answered registry.Revision) {
	if !w.asked {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for root := range h.stirred {
		if root.asking && root.asked == 0 && root.state == rootLoaded {
			root.asked = answered
		}
	}
}

// publish shows the copies if they are settled, or are overdue. It is true if there is more to do at once. before is a
// revision up to which all is surely in the copies then, as this turn has read what was held, too.
func (h *hub) publish(l *link, before registry.Revision, overdue bool) bool {
	at := l.seen() // read before the queue, whose events are then already there
	_, epoch, ok := h.r.keeper.present()
	h.mu.Lock()
	h.learn(l)
	at = max(at, h.learned) // an answer may have come since
	settled := ok && epoch == h.epoch && len(h.dirty) == 0 && len(h.held) == 0 && !h.unsure
	if !settled {
		if !ok || epoch != h.epoch || !overdue {
			h.mu.Unlock()
			return true
		}
		at = before
	}
	h.busy, h.since, h.turns = !settled, time.Now(), 0
	var shows []func()
	for root := range h.stirred {
		if root.state == rootLoaded {
			shows = append(shows, root.show(at)...)
		}
		if root.still() {
			delete(h.stirred, root)
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
	if !ok {
		return znode{}, false
	}
	return h.copied(l, epoch, path)
}

// copied returns a znode as the copies have it, or as an answer tells that is not yet in them, unless it is known to have
// changed since. The caller holds mu.
func (h *hub) copied(l *link, epoch int, path string) (znode, bool) {
	if h.dirty[path] {
		return znode{}, false
	}
	for at := path; ; at = parentOf(at) {
		if root := h.roots[at]; root != nil && root.state == rootLoaded && root.link == l && root.epoch == epoch {
			if z, ok := h.fresh[path]; ok { // newer than an event that waits for this very answer
				return z, true
			}
			return root.nodes[path], !h.held[path]
		}
		if at == registry.Root {
			return znode{}, false
		}
	}
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
