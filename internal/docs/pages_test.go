package docs_test

import (
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/docs/markdown"
)

const root = "../.."

// read reads README.md and its neighbours, and all pages of docs.
var read = sync.OnceValues(func() (map[string]markdown.Page, error) {
	all := make(map[string]markdown.Page)
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			name, err := filepath.Rel(root, file)
			if err != nil {
				return nil, err
			}
			all[filepath.ToSlash(name)] = markdown.Parse(text)
		}
	}
	return all, nil
})

// pages returns all pages, by their paths in the repository. All tests share them.
func pages(t *testing.T) map[string]markdown.Page {
	t.Helper()
	all, err := read()
	require.NoError(t, err)
	require.Greater(t, len(all), 20, "the pages are not found")
	return all
}

// blocks calls found with each block in one of the languages, and the page on which it stands. What CONTRIBUTING.md
// shows is for a file that its reader makes.
func blocks(t *testing.T, found func(page string, b markdown.Block), languages ...string) {
	t.Helper()
	seen := 0
	for name, page := range pages(t) {
		for _, b := range page.Blocks {
			if name != "CONTRIBUTING.md" && slices.Contains(languages, b.Language) {
				seen++
				found(name, b)
			}
		}
	}
	require.NotZero(t, seen, "no block is in %v", languages)
}
