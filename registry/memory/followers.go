package memory

import (
	"slices"
	"strings"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// follower is a view that the feed keeps up to date.
type follower struct {
	number   int
	view     *registry.View
	feed     *backend.Feed
	life     *backend.Life // of its context
	admitted bool          // it has been told what the feed delivered before it came

	unsent func(path string) bool // what the server does not send it; nil = it sends the whole subtree
}

// followers finds the views that a change concerns without asking each. It is guarded by the
// handle's lock.
type followers struct {
	last    int
	fresh   []*follower                     // not yet admitted
	byRoot  map[string][]*follower          // the admitted ones, by the root of the subtree
	awaited map[*follower]registry.Revision // what somebody waits for
}

func newFollowers() followers {
	return followers{byRoot: make(map[string][]*follower), awaited: make(map[*follower]registry.Revision)}
}

func (fs *followers) add(f *follower) {
	fs.last++
	f.number = fs.last
	fs.fresh = append(fs.fresh, f)
}

// admit makes the fresh views ordinary ones and returns them.
func (fs *followers) admit() []*follower {
	fresh := fs.fresh
	fs.fresh = nil
	for _, f := range fresh {
		f.admitted = true
		root := f.view.Path()
		fs.byRoot[root] = append(fs.byRoot[root], f)
	}
	return fresh
}

func (fs *followers) remove(f *follower) {
	delete(fs.awaited, f)
	same := func(other *follower) bool { return other == f }
	fs.fresh = slices.DeleteFunc(fs.fresh, same)
	root := f.view.Path()
	fs.byRoot[root] = slices.DeleteFunc(fs.byRoot[root], same)
	if len(fs.byRoot[root]) == 0 {
		delete(fs.byRoot, root)
	}
}

// concerned returns the views of the subtrees in which path lies, without those to which the server does not send it.
func (fs *followers) concerned(path string) []*follower {
	found := slices.Clone(fs.byRoot[registry.Root])
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		found = append(found, fs.byRoot[path[:end]]...)
	}
	return slices.DeleteFunc(found, func(f *follower) bool { return f.unsent != nil && f.unsent(path) })
}

// reached returns the views on which somebody waits for a revision up to this one. A view that is not
// admitted yet does not know what came before.
func (fs *followers) reached(revision registry.Revision) []*follower {
	var found []*follower
	for f, to := range fs.awaited {
		if f.admitted && to <= revision {
			found = append(found, f)
			delete(fs.awaited, f)
		}
	}
	slices.SortFunc(found, byNumber)
	return found
}

// all returns every view, oldest first.
func (fs *followers) all() []*follower {
	all := slices.Clone(fs.fresh)
	for _, some := range fs.byRoot {
		all = append(all, some...)
	}
	slices.SortFunc(all, byNumber)
	return all
}

func byNumber(a, b *follower) int { return a.number - b.number }
