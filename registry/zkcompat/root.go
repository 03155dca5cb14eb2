package zkcompat

import (
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// rootState is how far a copy is.
type rootState uint8

const (
	rootNew     rootState = iota // nothing was read on this connection
	rootLoading                  // being read
	rootLoaded                   // kept up to date by events
)

// root is a subtree that views follow, and a copy of it. All is guarded by the hub's mutex.
type root struct {
	ns        namespace
	path      string // its znode
	followers map[*follower]bool

	state   rootState
	number  int             // of the reading under way
	late    map[string]bool // what changed while it was read
	refused error           // why it cannot be read

	link     *link // of the copy
	epoch    int
	nodes    map[string]znode
	whole    bool            // the copy is new, and not yet shown
	changed  map[string]bool // what is not yet shown
	removals removals        // of that
	shown    registry.Revision

	wanted registry.Revision // that somebody waits for; 0 if nobody does
	ask    bool              // somebody wants the present revision, or a first state
	asking bool              // the server is asked for it
	asked  registry.Revision // what it answered; 0 before
}

func newRoot(ns namespace, path string) *root {
	return &root{
		ns: ns, path: path, followers: make(map[*follower]bool),
		late: make(map[string]bool), changed: make(map[string]bool),
	}
}

// unload has the copy read again.
func (r *root) unload() {
	r.state = rootNew
	clear(r.late)
	if r.asking { // the server that answered may be ahead of the next one
		r.ask, r.asking, r.asked = true, false, 0
	}
}

// take makes what was read the copy.
func (r *root) take(l *link, epoch int, found map[string]znode) {
	for path, was := range r.nodes {
		if !found[path].there {
			r.removals.miss(path, was)
		}
	}
	r.state, r.link, r.epoch = rootLoaded, l, epoch
	r.nodes, r.whole = found, true
	clear(r.changed)
}

// takeAsk tells whether the server must be asked for its present revision. What answers have shown, the copies
// show as soon as they are settled. Who asks while an answer is still to be shown has the next one: else those before
// him might wait for ever.
func (r *root) takeAsk(seen registry.Revision) bool {
	if r.state != rootLoaded {
		return false
	}
	if r.wanted > seen {
		r.ask, r.wanted = true, 0
	}
	if r.ask && !r.asking {
		r.ask, r.asking, r.asked = false, true, 0
		for f := range r.followers {
			f.asking = true
		}
	}
	return r.asking && r.asked == 0
}

// still tells whether nothing is to be done about the copy before something happens.
func (r *root) still() bool {
	return r.state == rootLoaded && !r.whole && len(r.changed) == 0 && r.wanted == 0 && !r.ask && !r.asking && r.refused == nil
}

// set puts a znode into the copy.
func (r *root) set(path string, z znode) {
	if z.there {
		r.nodes[path] = z
	} else {
		delete(r.nodes, path)
	}
	r.changed[path] = true
}

// setParent notes of a parent that it had a child, which its own state may be too old to show.
func (r *root) setParent(path string) {
	parent := parentOf(path)
	z, ok := r.nodes[parent]
	if !ok || z.parent || path == r.path {
		return
	}
	z.parent = true
	r.nodes[parent] = z
	r.changed[parent] = true
}

// show returns what shows the copy to the views as of a revision up to which it is complete. Those who
// asked wait until it is as new as the server's answer; one who came after the question was sent waits for the next, as
// this one may be older than what he has seen.
func (r *root) show(at registry.Revision) []func() {
	if r.wanted <= r.shown {
		r.wanted = 0
	}
	answered := r.asking && r.asked != 0 && at >= r.asked
	reached := r.wanted != 0 && at >= r.wanted
	switch {
	case at < r.shown, at == r.shown && len(r.changed) > 0 && !r.whole:
		return nil // a view takes no change that has no newer revision
	case !r.whole && len(r.changed) == 0 && !answered && !reached:
		return nil
	}
	var shows []func()
	var snapshot registry.Snapshot
	for f := range r.followers {
		if snapshot.Revision() == 0 && (r.whole || f.begins(answered)) {
			snapshot = registry.NewSnapshot(at, nodesOf(r.ns, r.nodes))
		}
	}
	events, whole := r.events(), r.whole
	var removed map[string]registry.Revision
	if whole {
		removed = r.removed()
	}
	for f := range r.followers {
		switch {
		case f.begins(answered):
			f.start(snapshot)
		case f.feed == nil:
		case whole:
			shows = append(shows, func() { f.feed.Replace(snapshot, func(path string) registry.Revision { return removed[path] }) })
		default:
			shows = append(shows, func() { f.feed.Apply(at, events) })
		}
	}
	r.shown, r.whole = at, false
	clear(r.changed)
	r.removals = removals{}
	r.asking = r.asking && !answered
	if reached {
		r.wanted = 0
	}
	return shows
}

// removed returns by which transactions nodes were removed that are in no copy any more.
func (r *root) removed() map[string]registry.Revision {
	removed := make(map[string]registry.Revision, len(r.removals.by))
	for path := range r.removals.by {
		removed[r.ns.path(path)] = r.removals.of(path, r.nodes)
	}
	return removed
}

// events returns what has changed.
func (r *root) events() []backend.Event {
	if r.whole {
		return nil
	}
	events := make([]backend.Event, 0, len(r.changed))
	for path := range r.changed {
		if path == r.ns.base {
			continue // the namespace itself holds no value
		}
		name := r.ns.path(path)
		events = append(events, backend.Event{Path: name, Node: r.nodes[path].node(name), Removed: r.removals.of(path, r.nodes)})
	}
	return events
}
