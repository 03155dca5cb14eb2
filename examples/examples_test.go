package examples_test

import (
	"context"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// Whoever copies a program into a module of his own has no internal packages.
func TestNoExampleImportsWhatItsReaderCannot(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, imported := range file.Imports {
			require.NotContains(t, imported.Path.Value, "/internal/", name)
		}
	}
}

// Tokens are revisions of the registry, which soon need more than the 32 bits that INTEGER has in PostgreSQL and MySQL.
func TestTablesHaveRoomForTokens(t *testing.T) {
	t.Parallel()
	column := regexp.MustCompile(`(?im)^\s*\w*token\s+(INT|INTEGER|SMALLINT|NUMERIC|TEXT|BIGINT)\b`)
	found := 0
	for _, pattern := range []string{"*/*.go", "../docs/*.md", "../README.md"} {
		files, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range files {
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			for _, m := range column.FindAllStringSubmatch(string(text), -1) {
				require.Equal(t, "BIGINT", m[1], name)
				found++
			}
		}
	}
	require.NotZero(t, found, "the tables are somewhere else")
}
