package docs_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// The list of pages of the site names every page of docs once, and nothing else.
func TestEveryPageIsInTheNav(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(root + "/site/mkdocs.yml")
	require.NoError(t, err)
	var site struct {
		Nav yaml.Node `yaml:"nav"`
	}
	require.NoError(t, yaml.Unmarshal(text, &site))
	listed := leaves(&site.Nav)
	files, err := filepath.Glob(root + "/docs/*.md")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := filepath.Base(file)
		if !slices.Contains(listed, name) {
			t.Errorf("docs/%s is not in the nav of site/mkdocs.yml. Add a line where a reader looks for it:\n      - What it is about: %s", name, name)
		}
	}
	slices.Sort(listed)
	require.Equal(t, slices.Compact(slices.Clone(listed)), listed, "a page is listed twice")
	for _, name := range listed {
		require.FileExists(t, root+"/docs/"+name, "the nav of site/mkdocs.yml lists it")
	}
}

// leaves returns the pages that a part of the nav lists.
func leaves(n *yaml.Node) (names []string) {
	switch n.Kind {
	case yaml.ScalarNode:
		return []string{n.Value}
	case yaml.MappingNode:
		for i := 1; i < len(n.Content); i += 2 { // values only
			names = append(names, leaves(n.Content[i])...)
		}
	default:
		for _, part := range n.Content {
			names = append(names, leaves(part)...)
		}
	}
	return names
}
