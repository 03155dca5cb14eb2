package examples_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience is how long one example may take on a machine that has much else to do.
const patience = 3 * time.Minute

func TestAllExamplesRun(t *testing.T) {
	t.Parallel()
	mains, err := filepath.Glob("*/main.go")
	require.NoError(t, err)
	require.NotEmpty(t, mains)
	programs := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags=-s -w", "-o", programs+string(filepath.Separator), "./...")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	for _, main := range mains {
		name := filepath.Dir(main)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			program := exec.CommandContext(ctx, filepath.Join(programs, name))
			program.Dir = t.TempDir() // for what it writes
			program.Stdin, program.Env = nil, os.Environ()
			output, err := program.CombinedOutput()
			require.NoError(t, err, "%s", output)
			require.NotEmpty(t, output, "it shows nothing")
		})
	}
}
