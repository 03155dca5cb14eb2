package backend_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

func node(path, value string, revision registry.Revision) registry.Node {
	return registry.Node{Path: path, Value: value, Created: revision, Revision: revision}
}

// anyPath draws from few paths, some of which are within others.
func anyPath() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"/a", "/a/1", "/a/1/x", "/a/10", "/a/10/x", "/a-", "/b", "/b/1"})
}

// newView returns a view that nobody feeds but the test.
func newView(path string, revision registry.Revision, nodes ...registry.Node) (*registry.View, *backend.Feed) {
	return backend.NewView(path, registry.NewSnapshot(revision, nodes),
		func(context.Context, registry.Revision) {}, func() {})
}

// record returns the steps that a subscriber is told of, without the first.
func record(v *registry.View) *[]registry.Step {
	var steps []registry.Step
	v.Subscribe(func(s registry.Step) { steps = append(steps, s) })
	steps = nil
	return &steps
}

func put(n registry.Node) backend.Event       { return backend.Event{Path: n.Path, Node: n} }
func removal(path string) backend.Event       { return backend.Event{Path: path} }
func all(s registry.Snapshot) []registry.Node { return slices.Collect(s.All()) }

func TestFeedApply(t *testing.T) {
	t.Parallel()
	old := node("/a/old", "1", 3)
	changed := registry.Node{Path: "/a/old", Value: "2", Created: 3, Revision: 6}
	tests := []struct {
		name   string
		events []backend.Event
		want   []registry.Change
	}{
		{"nothing", nil, nil},
		{"a new node", []backend.Event{put(node("/a/new", "", 6))}, []registry.Change{{New: node("/a/new", "", 6)}}},
		{"a new value", []backend.Event{put(changed)}, []registry.Change{{Old: old, New: changed}}},
		{"a removal", []backend.Event{removal("/a/old")}, []registry.Change{{Old: old}}},
		{"the root of the subtree", []backend.Event{put(node("/a", "", 6))}, []registry.Change{{New: node("/a", "", 6)}}},
		{
			"sorted by path",
			[]backend.Event{put(node("/a/z", "", 6)), put(node("/a/b", "", 6))},
			[]registry.Change{{New: node("/a/b", "", 6)}, {New: node("/a/z", "", 6)}},
		},
		{
			"only the last on a path",
			[]backend.Event{put(node("/a/x", "1", 5)), removal("/a/x"), put(node("/a/x", "2", 6))},
			[]registry.Change{{New: node("/a/x", "2", 6)}},
		},
		{"there and gone again", []backend.Event{put(node("/a/x", "", 5)), removal("/a/x")}, nil},
		{"outside of the subtree", []backend.Event{put(node("/ab", "", 6)), put(node("/b", "", 6))}, nil},
		{"what is shown already", []backend.Event{put(old)}, nil},
		{"what is older", []backend.Event{put(node("/a/old", "0", 2))}, nil},
		{"removal of what is not there", []backend.Event{removal("/a/none")}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			v, feed := newView("/a", 5, old)
			before := v.Snapshot()
			steps := record(v)
			feed.Apply(6, tt.events)
			require.Equal(t, registry.Revision(6), feed.Revision())
			require.Equal(t, []registry.Node{old}, all(before), "an earlier state stays as it was")
			if tt.want == nil {
				require.Empty(t, *steps)
				require.Equal(t, []registry.Node{old}, all(v.Snapshot()))
				return
			}
			require.Len(t, *steps, 1)
			require.Equal(t, tt.want, (*steps)[0].Changes)
			require.Equal(t, all((*steps)[0].Snapshot), all(v.Snapshot()))
		})
	}
}

func TestFeedLeavesOutWhatIsOld(t *testing.T) {
	t.Parallel()
	v, feed := newView(registry.Root, 5, node("/a", "now", 5))
	steps := record(v)
	feed.Apply(5, []backend.Event{removal("/a")})
	feed.Apply(4, []backend.Event{put(node("/b", "", 4))})
	feed.Confirm(3)
	feed.Replace(registry.NewSnapshot(4, nil), nil)
	require.Empty(t, *steps)
	require.Equal(t, registry.Revision(5), v.Snapshot().Revision())
	require.Equal(t, 1, v.Snapshot().Len())
}

func TestFeedReplaceShowsTheDifference(t *testing.T) {
	t.Parallel()
	same, gone, was, is, added := node("/same", "", 1), node("/gone", "", 2), node("/x", "1", 3), node("/x", "2", 7), node("/new", "", 8)
	v, feed := newView(registry.Root, 5, same, gone, was)
	steps := record(v)
	feed.Replace(registry.NewSnapshot(9, []registry.Node{same, is, added}), nil)
	require.Len(t, *steps, 1)
	require.Equal(t, []registry.Change{{Old: gone}, {New: added}, {Old: was, New: is}}, (*steps)[0].Changes)
	require.Equal(t, registry.Revision(9), v.Snapshot().Revision())

	feed.Replace(registry.NewSnapshot(9, []registry.Node{same, is, added}), nil)
	feed.Apply(9, []backend.Event{removal("/x")})
	require.Len(t, *steps, 1, "a repetition shows nothing")
}

func TestFeedConfirmTellsNobody(t *testing.T) {
	t.Parallel()
	v, feed := newView(registry.Root, 5)
	steps := record(v)
	feed.Confirm(8)
	require.Equal(t, registry.Revision(8), v.Snapshot().Revision())
	require.NoError(t, v.WaitRevision(t.Context(), 8))
	require.Empty(t, *steps)
}

// store is a store with its history, for random feeds.
type store struct {
	revision registry.Revision
	nodes    map[string]registry.Node
	events   []backend.Event // of the revisions 1, 2, ..., one each
}

func (s *store) change(t *rapid.T) {
	s.revision++
	path := anyPath().Draw(t, "path")
	n := s.nodes[path]
	if n.Exists() && rapid.Bool().Draw(t, "remove") {
		delete(s.nodes, path)
		s.events = append(s.events, removal(path))
		return
	}
	if !n.Exists() {
		n = node(path, "", s.revision)
	}
	n.Revision, n.Value = s.revision, rapid.StringN(0, 3, -1).Draw(t, "value")
	s.nodes[path] = n
	s.events = append(s.events, put(n))
}

func (s *store) subtree(root string) []registry.Node {
	nodes := []registry.Node{}
	for _, path := range slices.Sorted(maps.Keys(s.nodes)) {
		if registry.Within(path, root) {
			nodes = append(nodes, s.nodes[path])
		}
	}
	return nodes
}

// feedSome brings the view some way towards the store, in one of the ways in which a backend may, or
// repeats what the view has seen.
func (s *store) feedSome(t *rapid.T, root string, feed *backend.Feed) {
	from := registry.Revision(rapid.IntRange(0, int(feed.Revision())).Draw(t, "from"))
	to := registry.Revision(rapid.IntRange(int(from), int(s.revision)).Draw(t, "to"))
	switch rapid.IntRange(0, 3).Draw(t, "way") {
	case 0:
		feed.Replace(registry.NewSnapshot(s.revision, s.subtree(root)), nil)
	case 1:
		feed.Apply(to, s.events[from:to])
	default:
		for r := from; r < to; r++ {
			feed.Apply(r+1, s.events[r:r+1])
		}
	}
}

// TestFeedAgreesWithTheStore feeds a view in random ways and replays its changes as a listener would.
func TestFeedAgreesWithTheStore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		root := rapid.SampledFrom([]string{registry.Root, "/a", "/a/1"}).Draw(t, "root")
		s := &store{nodes: make(map[string]registry.Node)}
		v, feed := newView(root, 0)
		replayed := make(map[string]registry.Node)
		revision := registry.Revision(0)
		v.Subscribe(func(step registry.Step) {
			require.GreaterOrEqual(t, step.Snapshot.Revision(), revision)
			revision = step.Snapshot.Revision()
			for _, c := range step.Changes {
				require.Equal(t, replayed[c.Path()], c.Old, "a change begins where the last one ended")
				require.NotEqual(t, c.Old, c.New)
				replayed[c.Path()] = c.New
			}
		})
		kept := map[registry.Revision]registry.Snapshot{}
		was := map[registry.Revision][]registry.Node{}
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			if rapid.Bool().Draw(t, "change") {
				s.change(t)
			} else {
				s.feedSome(t, root, feed)
				now := v.Snapshot()
				kept[now.Revision()], was[now.Revision()] = now, all(now)
			}
		}
		feed.Apply(s.revision, s.events[feed.Revision():])
		maps.DeleteFunc(replayed, func(_ string, n registry.Node) bool { return !n.Exists() })
		want := &store{nodes: replayed}
		require.ElementsMatch(t, s.subtree(root), all(v.Snapshot()))
		require.ElementsMatch(t, s.subtree(root), want.subtree(registry.Root))
		for r, snapshot := range kept {
			require.Equal(t, was[r], all(snapshot), "a state that was kept never changes")
		}
	})
}

// A view neither keeps nor tells of what it is to leave out, in whichever way it comes.
func TestFeedLeavesOutWhatIsExcepted(t *testing.T) {
	t.Parallel()
	x, big := node("/x", "1", 1), node("/big", "1", 2)
	v, feed := backend.NewView(registry.Root, registry.NewSnapshot(5, []registry.Node{x, big}),
		func(context.Context, registry.Revision) {}, func() {}, func(path string) bool { return path == "/big" })
	steps := record(v)
	require.Equal(t, []registry.Node{x}, all(v.Snapshot()))
	feed.Apply(6, []backend.Event{put(node("/big", "2", 6))})
	feed.Replace(registry.NewSnapshot(7, []registry.Node{x, node("/big", "3", 7)}), nil)
	feed.Apply(8, []backend.Event{removal("/big")})
	require.Empty(t, *steps)
	require.Equal(t, []registry.Node{x}, all(v.Snapshot()))
	require.Equal(t, registry.Revision(8), feed.Revision(), "nevertheless it goes on")
}

// A view goes on as it was while its nodes become many and few again.
func TestFeedAgreesWithTheStoreWhateverTheNumberOfNodes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := &store{nodes: make(map[string]registry.Node)}
		v, feed := newView(registry.Root, 0)
		type state struct {
			shown registry.Snapshot
			was   []registry.Node
		}
		var kept []state
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			grows := rapid.IntRange(0, 3).Draw(t, "grows") > 0
			s.revision++
			var events []backend.Event
			for n := range 120 {
				path := fmt.Sprintf("/n/%d", n)
				switch old := s.nodes[path]; {
				case rapid.IntRange(0, 3).Draw(t, "touched") > 0:
				case grows || old.Exists() && rapid.Bool().Draw(t, "stays"):
					now := node(path, fmt.Sprint(s.revision), s.revision)
					s.nodes[path] = now
					events = append(events, put(now))
				case old.Exists():
					delete(s.nodes, path)
					events = append(events, removal(path))
				}
			}
			feed.Apply(s.revision, events)
			kept = append(kept, state{v.Snapshot(), s.subtree(registry.Root)})
		}
		for _, state := range kept {
			require.Equal(t, state.was, append([]registry.Node{}, all(state.shown)...))
			require.Equal(t, len(state.was), state.shown.Len())
			require.Equal(t, state.was, append([]registry.Node{}, slices.Collect(state.shown.Below("/n"))...))
			for _, n := range state.was {
				require.Equal(t, n, state.shown.Get(n.Path))
			}
			require.False(t, state.shown.Get("/n/120").Exists())
		}
	})
}
