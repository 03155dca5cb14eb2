package fileindex_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/elasticron/elasticron/cmd/elasticron/internal/fileindex"
)

// trees draws a tree of up to 60 files in nested folders. Folders begin with a capital letter, so no
// path is both a file and a folder.
func trees(t *rapid.T) fstest.MapFS {
	path := rapid.StringMatching(`([A-C]{1,2}/){0,3}[a-z]{1,3}(\.go)?`)
	contents := rapid.MapOfN(path, rapid.SliceOfN(rapid.Byte(), 0, 40), 0, 60).Draw(t, "tree")
	tree := fstest.MapFS{}
	for path, data := range contents {
		tree[path] = &fstest.MapFile{Data: data}
	}
	return tree
}

func TestSharesAddUpToTheTree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tree := trees(t)
		total := rapid.IntRange(1, 20).Draw(t, "total")
		truth, err := fileindex.Count(context.Background(), tree, total)
		require.NoError(t, err)
		require.Equal(t, len(tree), truth.Whole.Files)

		var union fileindex.Sum
		for item := range total {
			share, err := fileindex.Share(context.Background(), tree, item, total)
			require.NoError(t, err)
			require.Equal(t, truth.Shares[item], share, "item %d", item)
			union = union.Plus(share)
		}
		require.Equal(t, truth.Whole, union)
	})
}

func TestEveryFileBelongsToExactlyOneItem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`[a-z/._]{1,30}`).Draw(t, "path")
		total := rapid.IntRange(1, 50).Draw(t, "total")
		item := fileindex.ItemOf(path, total)
		require.True(t, item >= 0 && item < total, "item %d of %d", item, total)
		tree := fstest.MapFS{"x": {Data: []byte(path)}}
		counted := 0
		for n := range total {
			share, err := fileindex.Share(context.Background(), tree, n, total)
			require.NoError(t, err)
			counted += share.Files
		}
		require.Equal(t, 1, counted)
	})
}

func TestSharesAreOfSimilarSize(t *testing.T) {
	t.Parallel()
	counts := make([]int, 8)
	for i := range 8000 {
		counts[fileindex.ItemOf(fmt.Sprintf("net/http/file%d.go", i), 8)]++
	}
	for item, n := range counts {
		require.InDelta(t, 1000, n, 200, "item %d", item)
	}
}

func TestDigestTellsWhatCountsDoNot(t *testing.T) {
	t.Parallel()
	sum := func(tree fstest.MapFS) fileindex.Sum {
		truth, err := fileindex.Count(t.Context(), tree, 1)
		require.NoError(t, err)
		return truth.Whole
	}
	base := sum(fstest.MapFS{"a": {Data: []byte("one\n")}, "b": {Data: []byte("two\n")}})
	require.Equal(t, fileindex.Sum{Files: 2, Lines: 2, Bytes: 8, Digest: base.Digest}, base)
	others := map[string]fstest.MapFS{
		"another path":      {"a": {Data: []byte("one\n")}, "c": {Data: []byte("two\n")}},
		"another content":   {"a": {Data: []byte("one\n")}, "b": {Data: []byte("owt\n")}},
		"contents swapped":  {"a": {Data: []byte("two\n")}, "b": {Data: []byte("one\n")}},
		"contents the same": {"a": {Data: []byte("one\n")}, "b": {Data: []byte("one\n")}},
	}
	for name, tree := range others {
		other := sum(tree)
		require.Equal(t, base.Files, other.Files, name)
		require.Equal(t, base.Bytes, other.Bytes, name)
		require.NotEqual(t, base.Digest, other.Digest, name)
	}
	a := sum(fstest.MapFS{"a": {Data: []byte("one\n")}})
	b := sum(fstest.MapFS{"b": {Data: []byte("two\n")}})
	require.NotEqual(t, base.Digest, a.Plus(a).Digest, "one counted twice, the other never")
	require.Equal(t, base, b.Plus(a), "order does not matter")
}

func TestOnlyRegularFilesCount(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "sub", "empty"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "sub", "f"), []byte("x"), 0o600))
	if err := os.Symlink("f", filepath.Join(dir, "sub", "link")); err != nil {
		t.Skipf("symbolic links: %v", err)
	}
	truth, err := fileindex.Count(t.Context(), os.DirFS(dir), 3)
	require.NoError(t, err)
	require.Equal(t, 1, truth.Whole.Files)
}

func TestErrors(t *testing.T) {
	t.Parallel()
	_, err := fileindex.Count(t.Context(), os.DirFS(filepath.Join(t.TempDir(), "none")), 2)
	require.ErrorIs(t, err, fs.ErrNotExist, "a root that is not there is no empty tree")

	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stop)
	_, err = fileindex.Share(ctx, fstest.MapFS{"a": {}}, 0, 1)
	require.ErrorIs(t, err, stop)
}

func ExampleCount() {
	tree := fstest.MapFS{
		"go.mod":      {Data: []byte("module example\n")},
		"main.go":     {Data: []byte("package main\n\nfunc main() {}\n")},
		"doc/read.me": {Data: []byte("# Example\n")},
	}
	truth, _ := fileindex.Count(context.Background(), tree, 2)
	union := truth.Shares[0].Plus(truth.Shares[1])
	fmt.Println(truth.Whole.Files, "files,", truth.Whole.Lines, "lines; union exact:", union == truth.Whole)
	// Output: 3 files, 5 lines; union exact: true
}

func BenchmarkShare(b *testing.B) {
	tree := fstest.MapFS{}
	for i := range 1000 {
		tree[fmt.Sprintf("dir%d/file%d", i%30, i)] = &fstest.MapFile{Data: make([]byte, 4096)}
	}
	b.ReportAllocs()
	for b.Loop() {
		_, err := fileindex.Share(b.Context(), tree, 3, 8)
		require.NoError(b, err)
	}
}
