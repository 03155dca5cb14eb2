package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// carryOut runs a command line in this process.
func carryOut(t *testing.T, args ...string) (out, errOut string, status int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	status = run(t.Context(), args, &stdout, &stderr)
	return stdout.String(), stderr.String(), status
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	out, _, status := carryOut(t, "--help")
	require.Zero(t, status)
	require.Contains(t, out, "demo")
	require.NotContains(t, out, demoProcess, "it is nobody's business")

	out, _, status = carryOut(t, "--version")
	require.Zero(t, status)
	require.Contains(t, out, "elasticron version ")

	out, _, status = carryOut(t, "demo", "--help")
	require.Zero(t, status)
	for _, flag := range []string{"--dir", "--etcd", "--every", "--items", "--keep", "--rounds", "--verbose", "--workers"} {
		require.Contains(t, out, flag)
	}
}

func TestWrongCommandLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"unknown command", []string{"dance"}, `elasticron: unknown command "dance"`},
		{"unknown flag", []string{"demo", "--fast"}, "unknown flag: --fast"},
		{"argument", []string{"demo", "x"}, `unknown command "x"`},
		{"not a number", []string{"demo", "--items", "many"}, `invalid argument "many" for "--items"`},
		{"too few", []string{"demo", "--items", "1"}, "items is 1, want 2 to 1000"},
		{"no such folder", []string{"demo", "--dir", "/no/such/folder"}, "/no/such/folder: no such file"},
		{"no settings", []string{demoProcess}, "read settings"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, errOut, status := carryOut(t, tt.args...)
			require.Equal(t, exitFailed, status)
			require.Contains(t, errOut, tt.want)
		})
	}
}
