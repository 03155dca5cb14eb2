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
	w.h.noteActivity()
	revision := resp.Header.Revision
	if n := len(resp.Events); n > 0 {
		revision = resp.Events[n-1].Kv.ModRevision // the header may run ahead of what was brought
	} else if !resp.IsProgressNotify() {
		return
	}
	w.h.r.see(revision)
	for f, u := range w.route(revision, resp.Events) {
		if awaits := f.deliver(w, u); awaits != 0 {
			w.h.awaitRevision(f, awaits)
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
	routed := make(map[*follower]update)
	for _, e := range events {
		if event, ok := h.r.ns.event(e); ok {
			for f := range w.followersOf(event.Path) {
				u := routed[f]
				u.revision, u.events = registry.Revision(revision), append(u.events, event)
				if w.part {
					u.at = append(u.at, registry.Revision(e.Kv.ModRevision))
				}
				routed[f] = u
			}
		}
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
		return backend.Event{Path: node.Path}, ok
	}
	return backend.Event{Path: node.Path, Node: node}, ok
}
