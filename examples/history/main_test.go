package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheProgram(t *testing.T) {
	t.Parallel()
	var stderr strings.Builder
	program := exec.CommandContext(t.Context(), "go", "run", ".")
	program.Stderr = &stderr
	stdout, err := program.Output()
	require.NoError(t, err, "%s", &stderr)
	out := string(stdout)
	require.Regexp(t, `(?m)^\d\d:\d\d:\d\d  0     scheduled  [A-Z2-7]{12}  .* success$`, out)
	require.Regexp(t, `(?m)^\d\d:\d\d:\d\d  2     scheduled  .* out of stock$`, out)
	require.Regexp(t, `(?m)^  round [A-Z2-7]{12}, items \[0, 1, 2\]: \{2=out of stock\}$`, out)
	require.Contains(t, stderr.String(), `msg="item failed"`)
	require.NotContains(t, stderr.String(), "lost")
}
