package memory

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// follow is the goroutine that keeps all views of the handle up to date, in the order of the store.
func (r *Registry) follow() {
	for {
		select {
		case <-r.news:
		case <-r.life.Done():
			return
		}
		if r.link.await(r.life) != nil || !r.catchUp() {
			return
		}
	}
}

// catchUp brings the views to what the server has; false if the handle ended.
func (r *Registry) catchUp() bool {
	r.welcome()
	commits, complete := r.server.since(r.seen)
	if !complete || r.watchBroke() {
		r.refresh()
		commits = nil
	}
	for _, c := range commits {
		about := "event " + strconv.FormatInt(int64(c.revision), 10)
		wait := time.Until(c.at.Add(r.link.delay(Message{Kind: Event, About: about})))
		if r.link.spread != 0 {
			wait = max(wait, 1) // in an instant after the last one's
		}
		if sleep(r.life, wait) != nil || r.link.receive(r.life, about) != nil {
			return false
		}
		r.deliver(c)
	}
	r.confirmAwaited()
	return true
}

// welcome brings new views to where the others are. Until then no commit is delivered to them, or
// they would skip what lies between.
func (r *Registry) welcome() {
	r.mu.Lock()
	fresh := r.views.admit()
	r.mu.Unlock()
	for _, f := range fresh {
		if f.feed.Revision() >= r.seen {
			continue
		}
		if missed, complete := r.server.since(f.feed.Revision()); complete {
			r.catchUpOne(f, missed)
		} else {
			r.refreshOne(f)
		}
	}
}

func (r *Registry) catchUpOne(f *follower, missed []commit) {
	for _, c := range missed {
		if c.revision <= r.seen {
			f.feed.Apply(c.revision, r.inside(c))
		}
	}
}

// deliver shows one commit to the views that it concerns, oldest view first.
func (r *Registry) deliver(c commit) {
	r.welcome()
	events := r.inside(c)
	concerned := make(map[*follower][]backend.Event)
	for _, e := range events {
		r.noticeTicket(e.Node)
	}
	r.mu.Lock()
	for _, e := range events {
		for _, f := range r.views.concerned(e.Path) {
			concerned[f] = append(concerned[f], e)
		}
	}
	r.mu.Unlock()
	r.seen = c.revision
	for _, f := range slices.SortedFunc(maps.Keys(concerned), byNumber) {
		f.feed.Apply(c.revision, concerned[f])
	}
}

// inside returns the events of the namespace, with its paths.
func (r *Registry) inside(c commit) []backend.Event {
	var events []backend.Event
	for _, e := range c.events {
		if path, ok := strings.CutPrefix(e.Path, r.prefix); ok && strings.HasPrefix(path, "/") {
			events = append(events, backend.Event{Path: path, Node: relative(r.prefix, e.Node), Removed: e.Removed})
		}
	}
	return events
}

// refresh gives every view a fresh copy, because the server cannot tell what changed since. A ticket that came late
// meanwhile is looked for too: no event will tell of it.
func (r *Registry) refresh() {
	reached := r.server.now()
	for _, f := range r.allViews() {
		r.refreshOne(f)
	}
	nodes, _ := r.server.list(r.prefix, registry.Root)
	for _, n := range nodes {
		r.noticeTicket(n)
	}
	r.seen = reached
}

func (r *Registry) refreshOne(f *follower) {
	r.stats.reads.Add(1)
	r.server.stats.reads.Add(1)
	nodes, revision := r.server.list(r.prefix, f.view.Path())
	f.feed.Replace(registry.NewSnapshot(revision, nodes), nil)
}

func (r *Registry) watchBroke() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	broken := r.broken
	r.broken = false
	return broken
}

// confirmAwaited tells every view on which somebody waits which revision the store has reached.
func (r *Registry) confirmAwaited() {
	r.mu.Lock()
	reached := r.views.reached(r.seen)
	r.mu.Unlock()
	for _, f := range reached {
		f.feed.Confirm(r.seen)
	}
}
