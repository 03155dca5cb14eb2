package etcd

import (
	"iter"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
)

// bring tells the followers what one response says.
func (w *watch) bring(resp clientv3.WatchResponse) {
	w.h.hear()
	revision := resp.Header.Revision
	if n := len(resp.Events); n > 0 {
		revision = resp.Events[n-1].Kv.ModRevision // the header may run ahead of what was brought
	} else if !resp.IsProgressNotify() {
		return
	}
	w.h.r.see(revision)
	for f, n := range w.sort(revision, resp.Events) {
		f.tell(n)
	}
}

// sort deals the events out to the views that show them, and a bare revision to those for which
// somebody waits.
func (w *watch) sort(revision int64, events []*clientv3.Event) map[*follower]news {
	h := w.h
	h.mu.Lock()
	defer h.mu.Unlock()
	w.after = max(w.after, revision)
	dealt := make(map[*follower]news)
	for _, e := range events {
		if event, ok := h.r.ns.event(e); ok {
			for f := range w.concerned(event.Path) {
				dealt[f] = news{registry.Revision(revision), append(dealt[f].events, event)}
			}
		}
	}
	for f := range h.waiting {
		if _, ok := dealt[f]; !ok && f.watch == w {
			dealt[f] = news{revision: registry.Revision(revision)}
		}
		if f.watch == w && f.wanted <= registry.Revision(revision) {
			delete(h.waiting, f)
		}
	}
	return dealt
}

// concerned yields the followers whose subtree the path is in.
func (w *watch) concerned(path string) iter.Seq[*follower] {
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
func (n namespace) event(e *clientv3.Event) (registry.Event, bool) {
	node, ok := n.node(e.Kv)
	if e.Type == mvccpb.Event_DELETE {
		return registry.Event{Path: node.Path}, ok
	}
	return registry.Event{Path: node.Path, Node: node}, ok
}
