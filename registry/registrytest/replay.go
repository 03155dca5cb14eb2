package registrytest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

// replay subscribes to a view and carries out its changes on a map, as a listener would. It notes
// whatever does not fit: a change shown twice, one left out, a step back.
type replay struct {
	view        *registry.View
	hides       func(path string) bool // what the view leaves out; nil = nothing
	unsubscribe func()

	// Written by the view's feed. Read after unsubscribe.
	nodes    map[string]registry.Node
	changes  map[string]int // how many were shown of each path
	revision registry.Revision
	steps    int
	faults   []string
}

func newReplay(v *registry.View) *replay {
	r := &replay{view: v, nodes: make(map[string]registry.Node), changes: make(map[string]int)}
	r.unsubscribe = v.Subscribe(r.step)
	return r
}

// newNarrowReplay is newReplay of a view that parts narrow.
func newNarrowReplay(e *env, p *Participant, path string, parts ...registry.Part) *replay {
	e.Helper()
	r := newReplay(e.narrowView(p, path, parts...))
	r.hides = registry.Outside(parts)
	return r
}

func (r *replay) step(s registry.Step) {
	r.steps++
	if s.Snapshot.Revision() < r.revision || r.steps > 1 && len(s.Changes) == 0 {
		r.fault("step from %d to %d with %d changes", r.revision, s.Snapshot.Revision(), len(s.Changes))
	}
	r.revision = s.Snapshot.Revision()
	last := ""
	for _, c := range s.Changes {
		if c.Old != r.nodes[c.Path()] || c.Old == c.New || c.Path() <= last {
			r.fault("%s from %s to %s when the listener has %s", c.Kind(), c.Old, c.New, r.nodes[c.Path()])
		}
		if c.Removed != 0 && (c.Kind() != registry.Removed || c.Removed <= c.Old.Revision) {
			r.fault("%s is said to have been removed at %d: from %s to %s", c.Path(), c.Removed, c.Old, c.New)
		}
		last = c.Path()
		r.changes[last]++
		if c.New.Exists() {
			r.nodes[c.Path()] = c.New
		} else {
			delete(r.nodes, c.Path())
		}
	}
	if !slices.Equal(slices.Collect(s.Snapshot.All()), r.list()) {
		r.fault("at %d the snapshot is not what its changes add up to", r.revision)
	}
}

func (r *replay) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

func (r *replay) list() []registry.Node {
	nodes := make([]registry.Node, 0, len(r.nodes))
	for _, path := range slices.Sorted(maps.Keys(r.nodes)) {
		nodes = append(nodes, r.nodes[path])
	}
	return nodes
}

// requireAgrees waits until the view has reached what the store holds and requires that the listener
// has exactly that, and got there without a fault. It ends the replay.
func (r *replay) requireAgrees(e *env, p registry.Reader) {
	e.Helper()
	want, revision, err := p.List(e.ctx, r.view.Path())
	require.NoError(e, err)
	if r.hides != nil {
		want = slices.DeleteFunc(want, func(n registry.Node) bool { return r.hides(n.Path) })
	}
	e.waitRevision(r.view, revision)
	r.unsubscribe()
	require.Empty(e, r.faults)
	if len(want) == 0 {
		want = []registry.Node{}
	}
	require.Equal(e, want, r.list())
}
