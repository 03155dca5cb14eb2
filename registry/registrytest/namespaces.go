package registrytest

import (
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func namespaceCases() []testCase {
	return []testCase{
		{name: "NeighboursAreIsolated", run: neighboursAreIsolated},
		{name: "NestedNamespaceIsASubtree", run: nestedNamespaceIsASubtree},
		{name: "HandlesOfOneNamespaceShareIt", run: handlesOfOneNamespaceShareIt},
	}
}

func neighboursAreIsolated(e *env) {
	short, long := e.open(), e.openIn(e.namespace+"b")
	shortReplay, longReplay := newReplay(e.view(short, registry.Root)), newReplay(e.view(long, registry.Root))
	e.commit(short, registry.Put("/a", "short"), registry.Put("/b/c", "short"))
	e.commit(long, registry.Put("/a", "long"))
	require.Equal(e, "short", e.get(short, "/a").Value)
	require.Equal(e, "long", e.get(long, "/a").Value)
	require.Equal(e, []string{"/a"}, paths(e.list(long, registry.Root)))

	last := e.commit(long, registry.DeleteTree("/a"), registry.DeleteTree("/b"))
	e.waitRevision(shortReplay.view, last)
	shortReplay.requireAgrees(e, short)
	longReplay.requireAgrees(e, long)
	require.Equal(e, []string{"/a", "/b/c"}, paths(shortReplay.list()))
	require.Equal(e, map[string]int{"/a": 1, "/b/c": 1}, shortReplay.changes, "the neighbour's changes are not its own")
}

func nestedNamespaceIsASubtree(e *env) {
	outer, inner := e.open(), e.openIn(e.namespace+"/eu")
	e.commit(outer, registry.Put("/eu", "the namespace's own node"), registry.Put("/eus", "beside it"))
	revision := e.commit(inner, registry.Put("/orders", "1"))
	require.Equal(e, []string{"/orders"}, paths(e.list(inner, registry.Root)))
	want := registry.Node{Path: "/eu/orders", Value: "1", Created: revision, Revision: revision}
	require.Equal(e, want, e.get(outer, "/eu/orders"))
	require.Empty(e, e.list(e.openIn("eu-"+e.namespace), registry.Root))
}

func handlesOfOneNamespaceShareIt(e *env) {
	one, two := e.open(), e.open()
	revision := e.commit(one, registry.Put("/a", "1"))
	require.Equal(e, revision, e.get(two, "/a").Revision)
	require.NotEqual(e, e.session(one).ID(), e.session(two).ID(), "each process has a session of its own")
}
