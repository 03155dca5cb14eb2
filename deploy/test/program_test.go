package test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/deploy/internal/oci"
)

// sources is the folder of the main module.
const sources = "../.."

// patience bounds what a test waits for.
const patience = 3 * time.Minute

// folder is what all tests share.
var folder string

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "elasticron-deploy-"); err != nil {
		panic(err)
	}
	status := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(status)
}

// built is the real program, built once for all tests.
var built = sync.OnceValues(func() (string, error) {
	name := filepath.Join(folder, "elasticron")
	return name, oci.Build(context.Background(), sources, v1.Platform{OS: "linux", Architecture: runtime.GOARCH}, name)
})

func program(t *testing.T) string {
	t.Helper()
	name, err := built()
	require.NoError(t, err)
	return name
}

// elasticron runs the program and returns what it writes to its standard output.
func elasticron(t *testing.T, in string, args ...string) string {
	t.Helper()
	name := program(t) // which the first test builds, for minutes on a machine that never has
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Stdin = strings.NewReader(in)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	require.NoError(t, err, "elasticron %s\n%s", strings.Join(args, " "), errs.String())
	return string(out)
}

var flag = regexp.MustCompile(`(?:^|[\s"'(])(--[a-z][a-z-]*)`)

// flagsIn are the long flags that a text names.
func flagsIn(text string) (all []string) {
	for _, m := range flag.FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

// flagsOf are the long flags that a command has by its help.
func flagsOf(t *testing.T, command ...string) []string {
	t.Helper()
	help := elasticron(t, "", append(command, "--help")...)
	_, options, found := strings.Cut(help, "\nFlags:\n")
	require.True(t, found, help)
	var all []string
	for line := range strings.Lines(options) {
		if m := regexp.MustCompile(`^ +(?:-\w, )?(--[a-z][a-z-]*)`).FindStringSubmatch(line); m != nil {
			all = append(all, m[1])
		}
	}
	require.Greater(t, len(all), 3, help)
	return all
}
