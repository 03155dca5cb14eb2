package zkcompat

import (
	"github.com/go-zookeeper/zk"

	"github.com/elasticron/elasticron/registry"
)

// newsKind says what a piece of news is.
type newsKind uint8

const (
	nodeChanged   newsKind = iota // or was created
	nodeGone                      // was deleted
	writeSent                     // a multi of this handle was sent
	writeAnswered                 // and answered, one way or the other
	nodesRead                     // the server answered what was asked of some znodes
)

// news is what the hub learns, in the order in which it was sent and the server spoke.
//
// An event tells that a znode changed, but not what to. Whoever wants to know has to read it, unless the change was
// this handle's own: then the answer to its multi tells, and it comes right after the events. So an event of a znode that a
// multi of this handle is about to write waits for the answer. This costs no time, because a read would be answered
// after the multi, too, unless the next multi's event is always there before: then it is read after all (see [hub]).
// An answer counts for every event before it, so nothing that another client wrote in between
// is missed: its event stands before the answer, which then shows a newer state or a failure, or after it.
type news struct {
	kind  newsKind
	link  *link
	epoch int // of the connection; not of events
	// at is, of answers, what the server had shown by then, of which the queue has all events; 0 = it gave none. Of an event
	// that a znode was deleted it is the transaction that did it; 0 = the server does not say.
	at    registry.Revision
	path  string // of events
	write *write
	read  *reading
}

// write is what a multi of this handle writes.
type write struct {
	paths []string
	after []state // of each path; none before it was done
}

// state is what an answer tells of a znode.
type state struct {
	znode
	known bool
}

// newWrite returns the paths that a multi touches.
func newWrite(ops []any) *write {
	w := &write{paths: make([]string, 0, len(ops))}
	for _, op := range ops {
		if path, touched := touches(op); touched {
			w.paths = append(w.paths, path)
		}
	}
	return w
}

// touches returns the path of an operation, and whether it changes the znode there.
func touches(op any) (path string, touched bool) {
	switch op := op.(type) {
	case *zk.CreateRequest:
		return op.Path, true
	case *zk.SetDataRequest:
		return op.Path, true
	case *zk.DeleteRequest:
		return op.Path, true
	default:
		return "", false
	}
}

// take takes in what the operations have left behind. Of two on one path the later one counts, which comes last here,
// too.
func (w *write) take(ops []any, results []result) {
	w.after = make([]state, 0, len(w.paths))
	for i, op := range ops {
		switch op := op.(type) {
		case *zk.CreateRequest:
			w.after = append(w.after, state{}) // the answer does not tell more than that it is there
		case *zk.SetDataRequest:
			w.after = append(w.after, state{znode{there: true, data: string(op.Data), stat: results[i].stat}, true})
		case *zk.DeleteRequest:
			w.after = append(w.after, state{known: true})
		}
	}
}

// reading is what the server was asked of some znodes.
type reading struct {
	paths []string
	found []znode // none if it could not be read
}

// hearRead takes in what was read of some znodes, or returns why that could not be.
func (h *hub) hearRead(l *link, epoch int, paths []string, a answer) error {
	if a.err != nil {
		return a.err
	}
	results, err := results(a.body, len(paths))
	if err != nil {
		return err
	}
	found := make([]znode, len(paths))
	for i, r := range results {
		if found[i], err = r.znode(); err != nil {
			return err
		}
	}
	h.tell(news{kind: nodesRead, link: l, epoch: epoch, at: l.seen(), read: &reading{paths, found}})
	return nil
}

// hearWrite takes in that a multi is sent, or answered. Commits go by the answer at once, before the hub comes to it.
func (h *hub) hearWrite(n news) {
	h.mu.Lock()
	for i, s := range n.write.after {
		if s.known {
			h.fresh[n.write.paths[i]] = s.znode
		} else {
			delete(h.fresh, n.write.paths[i])
		}
	}
	h.queue = append(h.queue, n)
	h.mu.Unlock()
	if n.kind != writeSent {
		h.wakeUp()
	}
}

func (h *hub) tell(n news) {
	h.mu.Lock()
	h.queue = append(h.queue, n)
	h.mu.Unlock()
	h.wakeUp()
}

// learn takes in what was heard since the last time. It tells whether there was anything. The caller holds mu.
func (h *hub) learn(l *link) bool {
	queue := h.queue
	h.queue = nil
	clear(h.fresh)
	for _, n := range queue {
		switch {
		case n.link != l:
		case n.kind == nodeChanged || n.kind == nodeGone:
			h.changed(n.path, n.kind == nodeGone, n.at)
		case n.epoch != h.epoch:
		case n.kind == writeSent:
			for _, path := range n.write.paths {
				h.writing[path]++
			}
		case n.kind == writeAnswered:
			if n.at != 0 { // else the connection ended before
				h.unsure, h.learned = false, max(h.learned, n.at)
			}
			h.written(n.write)
		case n.kind == nodesRead:
			h.unsure, h.learned = false, max(h.learned, n.at)
			for i, path := range n.read.paths {
				h.set(path, n.read.found[i], false)
			}
		}
	}
	return len(queue) > 0
}

// changed takes in an event: of a deletion with its transaction, if that is known. The caller holds mu.
func (h *hub) changed(path string, gone bool, at registry.Revision) {
	if h.writing[path] > 0 {
		h.held[path] = true
		return
	}
	if !gone {
		h.stale(path)
		return
	}
	for _, root := range h.above(path) {
		switch root.state {
		case rootLoading:
			root.late[path] = true
		case rootLoaded:
			h.remove(root, path, at)
			h.unsure = true // the next answer shows of which transaction that is a part
		}
	}
	delete(h.dirty, path)
}

// stale has a znode read. The caller holds mu.
func (h *hub) stale(path string) {
	for _, root := range h.above(path) {
		switch root.state {
		case rootLoading:
			root.late[path] = true
		case rootLoaded:
			h.dirty[path] = true
		}
	}
}

// written takes in the answer to a multi. The caller holds mu.
func (h *hub) written(w *write) {
	for _, path := range w.paths {
		if h.writing[path]--; h.writing[path] <= 0 {
			delete(h.writing, path)
		}
	}
	for i, path := range w.paths {
		held := h.held[path]
		delete(h.held, path)
		switch {
		case w.after != nil && w.after[i].known:
			h.set(path, w.after[i].znode, true)
		case held:
			h.changed(path, false, 0)
		}
	}
}

// set puts a znode into the copies, as of an answer: to what was read, or to a multi of this handle. The caller holds mu.
func (h *hub) set(path string, z znode, own bool) {
	for _, root := range h.above(path) {
		switch root.state {
		case rootLoading:
			root.late[path] = true
		case rootLoaded:
			if z.there || own {
				root.set(path, z)
				root.setParent(path)
				h.stirred[root] = true
			} else {
				h.remove(root, path, 0)
			}
		}
	}
	delete(h.dirty, path)
}

// remove takes a znode out of a copy that another client has deleted. The caller holds mu.
func (h *hub) remove(root *root, path string, at registry.Revision) {
	for _, parent := range root.removals.note(path, root.nodes[path], at) {
		h.stale(parent)
	}
	root.set(path, znode{})
	root.setParent(path)
	h.stirred[root] = true
}
