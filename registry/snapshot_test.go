package registry_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/registry"
)

func node(path, value string, revision registry.Revision) registry.Node {
	return registry.Node{Path: path, Value: value, Created: revision, Revision: revision}
}

func pathsOf(nodes ...registry.Node) []string {
	found := []string{}
	for _, n := range nodes {
		found = append(found, n.Path)
	}
	return found
}

func TestZeroSnapshotIsEmpty(t *testing.T) {
	t.Parallel()
	var s registry.Snapshot
	require.Zero(t, s.Len())
	require.Zero(t, s.Revision())
	require.False(t, s.Get("/a").Exists())
	require.Empty(t, slices.Collect(s.All()))
	require.Empty(t, slices.Collect(s.Below("/a")))
}

func TestSnapshotReads(t *testing.T) {
	t.Parallel()
	s := registry.NewSnapshot(9, []registry.Node{
		node("/b", "", 1), node("/a/10", "", 2), node("/a", "", 3), node("/a-", "", 4), node("/a/1/x", "", 5), node("/a/1", "one", 6),
	})
	require.Equal(t, registry.Revision(9), s.Revision())
	require.Equal(t, 6, s.Len())
	require.Equal(t, "one", s.Get("/a/1").Value)
	require.False(t, s.Get("/a/1/").Exists())
	for root, want := range map[string][]string{
		"/":      {"/a", "/a-", "/a/1", "/a/1/x", "/a/10", "/b"},
		"/a":     {"/a", "/a/1", "/a/1/x", "/a/10"},
		"/a/1":   {"/a/1", "/a/1/x"},
		"/a/1/x": {"/a/1/x"},
		"/c":     {},
	} {
		require.Equal(t, want, pathsOf(slices.Collect(s.Below(root))...), root)
	}
	require.Equal(t, slices.Collect(s.Below(registry.Root)), slices.Collect(s.All()))
}

func TestSnapshotReadsCanStop(t *testing.T) {
	t.Parallel()
	s := registry.NewSnapshot(1, []registry.Node{node("/a", "", 1), node("/a/1", "", 1), node("/a/2", "", 1)})
	for want := 1; want <= 3; want++ {
		seen := 0
		for range s.Below("/a") {
			if seen++; seen == want {
				break
			}
		}
		require.Equal(t, want, seen)
	}
}

// anyPath draws from few paths, some of which are within others.
func anyPath() *rapid.Generator[string] {
	return rapid.SampledFrom([]string{"/a", "/a/1", "/a/1/x", "/a/10", "/a/10/x", "/a-", "/b", "/b/1"})
}

func TestSnapshotBelowIsWithin(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfDistinct(anyPath(), rapid.ID).Draw(t, "paths")
		root := rapid.OneOf(anyPath(), rapid.Just(registry.Root)).Draw(t, "root")
		var nodes []registry.Node
		want := []string{}
		for _, p := range paths {
			nodes = append(nodes, node(p, "", 1))
			if registry.Within(p, root) {
				want = append(want, p)
			}
		}
		slices.SortFunc(want, strings.Compare)
		got := pathsOf(slices.Collect(registry.NewSnapshot(1, nodes).Below(root))...)
		slices.Sort(got)
		require.Equal(t, want, got)
	})
}
