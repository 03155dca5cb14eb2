package registrytest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/registry"
)

func nodeCases() []testCase {
	return []testCase{
		{name: "PutShowsValueAndRevisions", run: putShowsValueAndRevisions},
		{name: "RecreatedNodeHasANewCreation", run: recreatedNodeHasANewCreation},
		{name: "AbsentNodeIsNotFound", run: absentNodeIsNotFound},
		{name: "ListIsTheSubtreeInOrder", run: listIsTheSubtreeInOrder},
		{name: "ChildrenExistWhileDescendantsDo", run: childrenExistWhileDescendantsDo},
		{name: "DeletingOneLeavesTen", run: deletingOneLeavesTen},
		{name: "DeletingATreeLeavesItsNeighbours", run: deletingATreeLeavesItsNeighbours},
		{name: "DeletingNothingSucceeds", run: deletingNothingSucceeds},
		{name: "AnyTextIsAValue", run: anyTextIsAValue},
		{name: "MalformedPathsAreInvalid", run: malformedPathsAreInvalid},
	}
}

func putShowsValueAndRevisions(e *env) {
	p := e.open()
	created := e.commit(p, registry.Put("/a/b", "one"))
	require.Equal(e, registry.Node{Path: "/a/b", Value: "one", Created: created, Revision: created}, e.get(p, "/a/b"))

	changed := e.commit(p, registry.Put("/a/b", "two"))
	require.Greater(e, changed, created)
	require.Equal(e, registry.Node{Path: "/a/b", Value: "two", Created: created, Revision: changed}, e.get(p, "/a/b"))
}

func recreatedNodeHasANewCreation(e *env) {
	p := e.open()
	first := e.commit(p, registry.Put("/a", "same"))
	e.commit(p, registry.Delete("/a"))
	second := e.commit(p, registry.Put("/a", "same"))
	require.Greater(e, second, first)
	require.Equal(e, second, e.get(p, "/a").Created)
}

func absentNodeIsNotFound(e *env) {
	p := e.open()
	e.commit(p, registry.Put("/parent/child", ""))
	for _, path := range []string{"/absent", "/parent", "/parent/child/below", "/parent/chil"} {
		_, err := p.Get(e.ctx, path)
		require.ErrorIs(e, err, registry.ErrNotFound, path)
	}
}

func listIsTheSubtreeInOrder(e *env) {
	p := e.open()
	revision := e.commit(p,
		registry.Put("/a", ""), registry.Put("/a/2", ""), registry.Put("/a/10/x", ""), registry.Put("/a-b", ""),
		registry.Put("/a0", ""), registry.Put("/ab", ""), registry.Put("/b", ""))
	nodes, at, err := p.List(e.ctx, "/a")
	require.NoError(e, err)
	require.Equal(e, []string{"/a", "/a/10/x", "/a/2"}, paths(nodes))
	require.GreaterOrEqual(e, at, revision)
	require.Equal(e, []string{"/a", "/a-b", "/a/10/x", "/a/2", "/a0", "/ab", "/b"}, paths(e.list(p, registry.Root)))
	require.Equal(e, []string{"/a/10/x"}, paths(e.list(p, "/a/10")), "a parent that nobody wrote")
	require.Empty(e, e.list(p, "/absent"))
}

func childrenExistWhileDescendantsDo(e *env) {
	p := e.open()
	e.commit(p,
		registry.Put("/a", ""), registry.Put("/a/x", ""), registry.Put("/a/x-y", ""), registry.Put("/a/x/1", ""),
		registry.Put("/a/deep/down/below", ""), registry.Put("/ab/z", ""))
	children := func(path string) []string {
		names, err := p.Children(e.ctx, path)
		require.NoError(e, err)
		return names
	}
	require.Equal(e, []string{"deep", "x", "x-y"}, children("/a"))
	require.Equal(e, []string{"down"}, children("/a/deep"))
	require.Equal(e, []string{"a", "ab"}, children(registry.Root))
	require.Empty(e, children("/a/x/1"))
	require.Empty(e, children("/absent"))

	e.commit(p, registry.Delete("/a/deep/down/below"))
	require.Equal(e, []string{"x", "x-y"}, children("/a"))
}

func deletingOneLeavesTen(e *env) {
	p := e.open()
	e.commit(p, registry.Put("/a/1", ""), registry.Put("/a/1/below", ""), registry.Put("/a/10", ""), registry.Put("/a/1-", ""))
	e.commit(p, registry.Delete("/a/1"))
	require.Equal(e, []string{"/a/1-", "/a/1/below", "/a/10"}, paths(e.list(p, "/a")))
}

func deletingATreeLeavesItsNeighbours(e *env) {
	p := e.open()
	e.commit(p,
		registry.Put("/job", ""), registry.Put("/job/a", ""), registry.Put("/job/a/b", ""), registry.Put("/job1", ""),
		registry.Put("/job1/a", ""), registry.Put("/job-", ""), registry.Put("/jo", ""))
	e.commit(p, registry.DeleteTree("/job"))
	require.Equal(e, []string{"/jo", "/job-", "/job1", "/job1/a"}, paths(e.list(p, registry.Root)))

	e.commit(p, registry.Put("/tree/without/root", ""))
	e.commit(p, registry.DeleteTree("/tree"))
	require.Empty(e, e.list(p, "/tree"))
}

func deletingNothingSucceeds(e *env) {
	p := e.open()
	before := e.commit(p, registry.Put("/a", "stays"))
	for _, w := range []registry.Write{registry.Delete("/absent"), registry.DeleteTree("/absent")} {
		require.GreaterOrEqual(e, e.commit(p, w), before)
	}
	require.Equal(e, []string{"/a"}, paths(e.list(p, registry.Root)))
}

func anyTextIsAValue(e *env) {
	p := e.open()
	values := map[string]string{
		"/empty": "", "/zero": "\x00", "/lines": "a\nb\r\n", "/作业/分片": "任务 🕰", "/space and=signs?": " { \"json\": [1] } ",
		"/long": strings.Repeat("x", 100_000),
	}
	for path, value := range values {
		e.commit(p, registry.Put(path, value))
	}
	for _, n := range e.list(p, registry.Root) {
		require.Equal(e, values[n.Path], n.Value, n.Path)
		delete(values, n.Path)
	}
	require.Empty(e, values)
}

func malformedPathsAreInvalid(e *env) {
	p := e.open()
	for _, path := range []string{"", "a", "/a/", "//a", "/a//b", "/.", "/a/../b", "/a\nb", "/\xff"} {
		_, err := p.Get(e.ctx, path)
		require.ErrorIs(e, err, registry.ErrInvalid, "get %q", path)
		_, _, err = p.List(e.ctx, path)
		require.ErrorIs(e, err, registry.ErrInvalid, "list %q", path)
		_, err = p.Children(e.ctx, path)
		require.ErrorIs(e, err, registry.ErrInvalid, "children %q", path)
		_, err = p.View(e.ctx, path)
		require.ErrorIs(e, err, registry.ErrInvalid, "view %q", path)
		_, err = p.Commit(e.ctx, registry.Txn{Then: []registry.Write{registry.Put(path, "")}})
		require.ErrorIs(e, err, registry.ErrInvalid, "put %q", path)
		err = p.Latch(e.ctx, path, nil)
		require.ErrorIs(e, err, registry.ErrInvalid, "latch %q", path)
	}
	_, err := p.Get(e.ctx, registry.Root)
	require.ErrorIs(e, err, registry.ErrInvalid, "the root holds no value")
}
