package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/docs/markdown"
)

// Every block of Go stands, line by line, in a file of Go that is built or tested with all others.
func TestGoBlocks(t *testing.T) {
	t.Parallel()
	sources := goSources(t)
	blocks(t, func(page string, b markdown.Block) {
		if !slices.ContainsFunc(sources, func(source string) bool { return strings.Contains(source, outdented(b.Text)) }) {
			t.Errorf("%s: the %s is in no file of Go as it stands there. Put it into an example, "+
				"or into a test of internal/docs", page, b)
		}
	}, "go")
}

// goSources returns the text of all files of Go, without the space that lines begin with.
func goSources(t *testing.T) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		text, err := os.ReadFile(path)
		all = append(all, outdented(string(text)))
		return err
	}))
	require.Greater(t, len(all), 500)
	return all
}

// outdented returns a text whose lines begin with no space.
func outdented(text string) string {
	var all strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all.WriteString(line)
			all.WriteByte('\n')
		}
	}
	return all.String()
}

func TestOutdented(t *testing.T) {
	t.Parallel()
	require.Equal(t, "if a {\nb()\n}\n", outdented("\tif a {\n\n\t\tb()  \n\t}"))
}
