package docs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/docs/markdown"
)

const root = "../.."

// pages returns README.md and its neighbours, and all pages of docs, by their paths in the repository.
func pages(t *testing.T) map[string]markdown.Page {
	t.Helper()
	all := make(map[string]markdown.Page)
	for _, pattern := range []string{"*.md", "docs/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			name, err := filepath.Rel(root, file)
			require.NoError(t, err)
			all[filepath.ToSlash(name)] = markdown.Parse(text)
		}
	}
	require.Greater(t, len(all), 20, "the pages are not found")
	return all
}

// blocks calls found with each block in one of the languages, and the page on which it stands. What CONTRIBUTING.md
// shows is for a file that its reader makes.
func blocks(t *testing.T, found func(page string, b markdown.Block), languages ...string) {
	t.Helper()
	seen := 0
	all := pages(t)
	delete(all, "CONTRIBUTING.md")
	for name, page := range all {
		for _, b := range page.Blocks {
			for _, l := range languages {
				if b.Language == l {
					seen++
					found(name, b)
				}
			}
		}
	}
	require.NotZero(t, seen, "no block is in %v", languages)
}
