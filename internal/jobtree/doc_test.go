package jobtree_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
)

// The package comment lists every node once, and docs/tree.md sends readers there.
func TestThePackageCommentListsEveryNode(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	listed := []jobtree.Kind{jobtree.KindRoot, jobtree.KindItem} // which are above the others
	for line := range strings.Lines(string(text)) {
		node, is := strings.CutPrefix(line, "//\t")
		if !is {
			continue
		}
		path := strings.NewReplacer("<item>", "1", "<ip>", "10.0.0.1", "<id>", "10.0.0.1@-@7", "*", "a").Replace(strings.Fields(node)[0])
		name, known := jobtree.Parse(jobtree.For("orders").Root() + "/" + path)
		require.True(t, known, node)
		require.NotContains(t, listed, name.Kind, node)
		listed = append(listed, name.Kind)
	}
	slices.Sort(listed)
	require.Equal(t, jobtree.Kinds(), listed)
}
