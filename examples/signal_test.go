//go:build unix

package examples_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/etcdserver"
	"github.com/elasticron/elasticron/integration/serverprocess"
)

const module = "github.com/elasticron/elasticron/"

// readmeProgram builds the program of the README, but with an etcd of the test's, and with items that hang and
// do not heed their context.
func readmeProgram(t *testing.T, endpoint string) (path string) {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	_, body, found := strings.Cut(string(readme), "```go\n")
	require.True(t, found)
	body, _, _ = strings.Cut(body, "\n```")
	for shown, instead := range map[string]string{
		`"localhost:2379"`:    `"` + endpoint + `"`,
		"\treturn nil // do":  "\tselect {} // do",
		`"0/5 * * * * ?"`:     `"* * * * * ?"`,
		"err = s.Run(ctx)\n":  "fmt.Println(\"runs\")\nerr = s.Run(ctx)\nfmt.Println(\"stopped\")\n",
		"scheduler.New(reg, ": "scheduler.New(reg, scheduler.WithStopTimeout(time.Minute), ",
	} {
		require.Equal(t, 1, strings.Count(body, shown), shown)
		body = strings.Replace(body, shown, instead, 1)
	}
	imports := []string{
		"context", "errors", "fmt", "log", "log/slog", "os", "os/signal", "syscall", "time", module + "job",
		module + "registry/etcd", module + "scheduler",
	}
	text := "package main\n\nimport (\n\t\"" + strings.Join(imports, "\"\n\t\"") + "\"\n)\n\nfunc main() {\n" + body + "\n}\n"
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o600))
	path = filepath.Join(dir, "program")
	output, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, filepath.Join(dir, "main.go")).CombinedOutput()
	require.NoError(t, err, "%s", output)
	return path
}

// heard is what a process says.
type heard struct{ serverprocess.Output }

// until waits until the process has said something.
func (h *heard) until(t *testing.T, part string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(h.String(), part) }, time.Minute, 10*time.Millisecond,
		"it says %q", part)
}

// The first signal stops the program of the README in order, and waits for what runs; the second ends it at
// once, whatever hangs.
func TestASecondSignalEndsTheReadmesProgramAtOnce(t *testing.T) {
	t.Parallel()
	server, err := etcdserver.Start(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Close()) }()
	path := readmeProgram(t, server.Endpoints()[0])
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		ctx, cancel := context.WithTimeout(t.Context(), patience) // which is for the program, and not for its build
		t.Cleanup(cancel)
		program, says := exec.CommandContext(ctx, path), new(heard)
		program.Stdout, program.Stderr = says, says
		require.NoError(t, program.Start())
		ended := make(chan error, 1)
		go func() { ended <- program.Wait() }()
		says.until(t, "item 0 of 4")

		require.NoError(t, program.Process.Signal(signal))
		says.until(t, "stopping, waiting for what runs")
		// The program lets go of the signal when the stop has begun, not before: the next one may come too early.
		var end error
		require.Eventually(t, func() bool {
			_ = program.Process.Signal(signal)
			select {
			case end = <-ended:
				return true
			default:
				return false
			}
		}, 30*time.Second, 50*time.Millisecond, "it ends long before its stop timeout is over")
		require.Error(t, end)
		require.Equal(t, signal, program.ProcessState.Sys().(syscall.WaitStatus).Signal(), "%s", says)
		require.NotContains(t, says.String(), "stopped")
	}
}
