package jobtree

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// docs/configuration.md lists every member with its field, in the order in which they are written.
func TestEveryMemberIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	page := string(text)
	for _, f := range configFields {
		row := "\n| `" + f.name + "` | `" + f.field + "`"
		at := strings.Index(page, row)
		require.NotEqual(t, -1, at, "%s has no row, or one that stands too early, or another field", f.name)
		page = page[at+1:]
	}
	table, _, _ := strings.Cut(page, "\n## ")
	require.NotContains(t, table, "\n| `", "a row of no member")
}
