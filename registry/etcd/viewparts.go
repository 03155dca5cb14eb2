package etcd

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// ViewParts implements [registry.Narrower] with a watch for each range of keys that the parts leave: what lies beside
// their folders, and the children. Children between which nothing else lies share one.
//
// Each watch brings its part of what one transaction changed. The view shows the transaction once all watches have
// reached it. So if nothing happens on the other watches, the change is shown one request later than in a view of the
// whole subtree. If this handle made it and nobody waits for it, that request is a tenth of a second later, to be one for
// all that the handle does meanwhile: each process that shares a job would else ask after every begin and every end.
func (r *Registry) ViewParts(ctx context.Context, path string, parts []registry.Part, except ...func(path string) bool) (*registry.View, error) {
	v, err := r.viewParts(ctx, path, parts, append(slices.Clone(except), registry.Outside(parts)))
	return v, r.opError(registry.OpView, path, err)
}

func (r *Registry) viewParts(ctx context.Context, path string, parts []registry.Part, except []func(path string) bool) (*registry.View, error) {
	whole, err := r.snapshot(ctx, path) // what else there is tells which children are neighbours
	if err != nil {
		return nil, err
	}
	f := newFollower(path, except)
	f.ranges = r.ns.rangesOf(path, parts, whole)
	joined, err := r.hub.joinParts(f, whole.Revision())
	if err != nil {
		return nil, err
	}
	if !joined {
		return r.view(ctx, path, except)
	}
	return r.started(ctx, f, whole), nil
}

// Narrows implements [registry.Narrower].
func (r *Registry) Narrows(children int) bool {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.covering(registry.Root) == nil && h.parts+children+rangesBeside <= maxPartWatches
}

// rangesBeside is how many ranges lie beside the folders of a view's parts. As a rule there are two such folders.
const rangesBeside = 3

// joinParts starts watches of the ranges of a held follower, from a revision on. It starts none if the watch of the
// namespace brings the same anyway, or if there would be too many. A watch of the subtree does not matter: as a rule it
// belongs to a view that this one replaces.
func (h *hub) joinParts(f *follower, after registry.Revision) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.closed:
		return false, registry.ErrClosed
	case h.covering(registry.Root) != nil || h.parts+len(f.ranges) > maxPartWatches:
		return false, nil
	}
	f.joint = newJoint()
	for _, keys := range f.ranges {
		w := newWatch(h, f.root, keys, int64(after))
		w.part = true
		f.joint.reached[w] = after
		w.add(f)
	}
	for _, w := range f.watches { // none runs before the follower has all
		h.watch(w)
	}
	return true, nil
}

// fresh reads what a follower follows.
func (r *Registry) fresh(ctx context.Context, f *follower) (registry.Snapshot, error) {
	ranges := f.narrowed()
	if ranges == nil {
		return r.snapshot(ctx, f.root)
	}
	reads := make([]clientv3.Op, len(ranges))
	for i, keys := range ranges {
		reads[i] = clientv3.OpGet(keys.start, clientv3.WithRange(keys.end))
	}
	resp, err := r.do(ctx, clientv3.OpTxn(nil, reads, nil))
	if err != nil {
		return registry.Snapshot{}, err
	}
	var nodes []registry.Node
	for _, part := range resp.Txn().Responses {
		for _, n := range r.ns.nodes(part.GetResponseRange().Kvs) {
			if registry.Within(n.Path, f.root) { // and no neighbour
				nodes = append(nodes, n)
			}
		}
	}
	return registry.NewSnapshot(registry.Revision(resp.Txn().Header.Revision), nodes), nil
}

// narrowed returns the ranges that the follower follows; nil for all of its subtree. Another watch may take over at any time.
func (f *follower) narrowed() []keyRange {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ranges
}

// keyRange is a range of keys: start is in it, end is not.
type keyRange struct{ start, end string }

// rangeAround is the range of [namespace.around].
func (n namespace) rangeAround(path string) keyRange {
	start, end := n.around(path)
	return keyRange{start, end}
}

// rangesOf returns the ranges that hold what parts leave of a subtree, which is as whole shows it. They may hold
// more: children that come later between two that share a range.
func (n namespace) rangesOf(root string, parts []registry.Part, whole registry.Snapshot) []keyRange {
	all := n.rangeAround(root)
	var ranges []keyRange
	for _, p := range slices.SortedFunc(slices.Values(parts), func(a, b registry.Part) int { return cmp.Compare(a.Folder, b.Folder) }) {
		start, end := n.below(p.Folder)
		ranges = append(ranges, keyRange{all.start, start})
		all.start = end
		ranges = append(ranges, n.childRanges(p, whole)...)
	}
	return slices.DeleteFunc(append(ranges, all), func(r keyRange) bool { return r.start >= r.end })
}

// childRanges returns the ranges of the children that a part shows.
func (n namespace) childRanges(p registry.Part, whole registry.Snapshot) []keyRange {
	shown := make(map[string]bool) // of all children
	for node := range whole.Below(p.Folder) {
		if below, inside := strings.CutPrefix(node.Path, p.Folder+"/"); inside {
			child, _, _ := strings.Cut(below, "/")
			shown[child] = false
		}
	}
	for _, child := range p.Only {
		shown[child] = true
	}
	var ranges []keyRange
	neighbours := false
	for _, child := range slices.Sorted(maps.Keys(shown)) {
		own := n.rangeAround(p.Folder + "/" + child)
		switch {
		case !shown[child]:
			neighbours = false
			continue
		case neighbours:
			ranges[len(ranges)-1].end = max(ranges[len(ranges)-1].end, own.end)
		default:
			ranges = append(ranges, own)
		}
		neighbours = true
	}
	return ranges
}

// joint puts together what several watches bring of one view. It is guarded by the follower's mutex.
type joint struct {
	reached map[*watch]registry.Revision
	waiting map[registry.Revision][]backend.Event // of revisions that not all watches have reached
	told    registry.Revision                     // of those that they have, the newest that somebody was told of
}

func newJoint() *joint {
	return &joint{reached: make(map[*watch]registry.Revision), waiting: make(map[registry.Revision][]backend.Event)}
}

// take takes in what a watch brought. It returns what is complete by now, in order, and which of the revisions that
// this watch brought are not.
func (j *joint) take(w *watch, u update) (complete []update, awaits []registry.Revision) {
	if u.revision <= j.reached[w] {
		return nil, nil
	}
	j.reached[w] = u.revision
	for i, e := range u.events {
		if u.at[i] > j.told {
			j.waiting[u.at[i]] = append(j.waiting[u.at[i]], e)
		}
	}
	all := u.revision // that all watches have reached
	for _, reached := range j.reached {
		all = min(all, reached)
	}
	for _, revision := range slices.Sorted(maps.Keys(j.waiting)) {
		if revision > all {
			if slices.Contains(u.at, revision) {
				awaits = append(awaits, revision)
			}
			continue
		}
		complete = append(complete, update{revision: revision, events: j.waiting[revision]})
		delete(j.waiting, revision)
		j.told = revision
	}
	if all > j.told {
		complete, j.told = append(complete, update{revision: all}), all
	}
	return complete, awaits
}

// shown takes in that a fresh copy was shown, of a revision.
func (j *joint) shown(revision registry.Revision) {
	j.told = max(j.told, revision)
	maps.DeleteFunc(j.waiting, func(at registry.Revision, _ []backend.Event) bool { return at <= revision })
}

// holdsBack tells whether some watches have brought a revision that the view does not show yet.
func (f *follower) holdsBack(revision registry.Revision) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.joint == nil {
		return false
	}
	_, waits := f.joint.waiting[revision]
	return waits
}

// deliverPart is [follower.deliver] of a watch that brings a part. The watches come at the same time, so what
// is complete is shown by one of them.
func (f *follower) deliverPart(w *watch, u update) (awaits []registry.Revision) {
	f.mu.Lock()
	if f.joint == nil { // another watch has taken over
		f.mu.Unlock()
		return nil
	}
	complete, awaits := f.joint.take(w, u)
	f.held = append(f.held, complete...)
	if f.holds > 0 || len(f.held) == 0 {
		f.mu.Unlock()
		return awaits
	}
	f.holds++
	f.mu.Unlock()
	f.unhold()
	return awaits
}

// holdWhole is hold before one watch brings all that the view shows.
func (f *follower) holdWhole() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holds++
	f.joint, f.ranges = nil, nil
}
