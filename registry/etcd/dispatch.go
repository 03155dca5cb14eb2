package etcd

import (
	"iter"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// dispatch tells the followers what one response of the watch says.
func (w *watch) dispatch(resp clientv3.WatchResponse) {
	w.h.noteActivity(resp.IsProgressNotify())
	revision := resp.Header.Revision
	if n := len(resp.Events); n > 0 {
		revision = resp.Events[n-1].Kv.ModRevision // the header may run ahead of what was brought
	} else if !resp.IsProgressNotify() {
		return
	}
	w.h.r.see(revision)
	for f, u := range w.route(revision, resp.Events) {
		if awaits := f.deliver(w, u); len(awaits) > 0 {
			w.h.awaitParts(f, awaits)
		}
	}
}

// route sorts the events by the followers whose views show them, and adds a bare revision for those
// that somebody waits for.
func (w *watch) route(revision int64, events []*clientv3.Event) map[*follower]update {
	h := w.h
	h.mu.Lock()
	defer h.mu.Unlock()
	w.after = max(w.after, revision)
	h.quiet = h.quiet && (len(events) == 0 || revision <= w.known) // what the try started with says nothing new
	routed := make(map[*follower]update)
	defer w.came.forget()
	for _, e := range events {
		if e.Kv.ModRevision <= w.known { // the try started with it
			continue
		}
		if event, ok := h.r.ns.event(e); ok {
			for f := range w.followersOf(event.Path) {
				w.came.add(f, event, registry.Revision(e.Kv.ModRevision))
			}
		}
	}
	for _, c := range w.came.all {
		u := routed[c.to]
		if u.events == nil {
			u = update{revision: registry.Revision(revision), events: make([]backend.Event, 0, w.came.of[c.to])}
		}
		u.events = append(u.events, c.event)
		if w.part {
			u.at = append(u.at, c.at)
		}
		routed[c.to] = u
	}
	for f := range h.waiting {
		if !slices.Contains(f.watches, w) {
			continue
		}
		if _, ok := routed[f]; !ok {
			routed[f] = update{revision: registry.Revision(revision)}
		}
		if !w.part && f.wanted <= registry.Revision(revision) { // of parts, the slowest counts; see lagging
			delete(h.waiting, f)
		}
	}
	return routed
}

// arrivals are what one response brought, in order, with how much of it is for each follower: most followers get a few
// events that come after each other, and room for more than these would be a third of all that a response takes. The memory
// is used again and again.
type arrivals struct {
	all []arrived
	of  map[*follower]int
}

type arrived struct {
	to    *follower
	event backend.Event
	at    registry.Revision
}

func (a *arrivals) add(to *follower, event backend.Event, at registry.Revision) {
	if a.of == nil {
		a.of = make(map[*follower]int)
	}
	a.of[to]++
	a.all = append(a.all, arrived{to, event, at})
}

// mostArrivals is for how many events the memory is kept.
const mostArrivals = 1 << 10

// forget drops what came, and what it refers to.
func (a *arrivals) forget() {
	clear(a.of)
	clear(a.all)
	if a.all = a.all[:0]; cap(a.all) > mostArrivals {
		*a = arrivals{}
	}
}

// followersOf yields the followers whose subtree the path is in.
func (w *watch) followersOf(path string) iter.Seq[*follower] {
	return func(yield func(*follower) bool) {
		for root := path; ; root = root[:strings.LastIndexByte(root, '/')] {
			if root == "" {
				root = registry.Root
			}
			for f := range w.followers[root] {
				if !yield(f) {
					return
				}
			}
			if root == registry.Root {
				return
			}
		}
	}
}

// event reads what etcd says happened to a key.
func (n namespace) event(e *clientv3.Event) (backend.Event, bool) {
	node, ok := n.node(e.Kv)
	if e.Type == mvccpb.Event_DELETE {
		return backend.Event{Path: node.Path, Removed: registry.Revision(e.Kv.ModRevision)}, ok
	}
	return backend.Event{Path: node.Path, Node: node}, ok
}
