package scheduler_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program in the README is the body of Example, so it compiles.
func TestTheReadmeShowsTheExample(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)

	_, body, found := strings.Cut(string(source), "func Example() {\n")
	require.True(t, found)
	body, _, _ = strings.Cut(body, "\n}\n")
	body = strings.ReplaceAll("\n"+body, "\n\t", "\n")

	_, shown, found := strings.Cut(string(readme), "```go\n")
	require.True(t, found)
	shown, _, _ = strings.Cut(shown, "\n```")
	require.Equal(t, strings.TrimSpace(body), shown)
}
