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
	asCommand, _, status := carryOut(t, "version")
	require.Zero(t, status)
	require.Equal(t, out, asCommand)

	for _, args := range [][]string{{"help"}, {"help", "get", "jobs"}, {"completion", "bash"}, {"completion", "--help"}} {
		out, _, status = carryOut(t, args...)
		require.Zero(t, status)
		require.NotEmpty(t, out)
	}

	out, _, status = carryOut(t, "demo", "--help")
	require.Zero(t, status)
	for _, flag := range []string{"--dir", "--etcd", "--every", "--items", "--keep", "--rounds", "--verbose", "--workers"} {
		require.Contains(t, out, flag)
	}
}

func TestWrongCommandLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		args   []string
		status int
		want   string
	}{
		{"unknown command", []string{"dance"}, exitMisuse, `elasticron: unknown command "dance"`},
		{"unknown flag", []string{"demo", "--fast"}, exitMisuse, "unknown flag: --fast"},
		{"argument", []string{"demo", "x"}, exitMisuse, `unknown command "x"`},
		{"not a number", []string{"demo", "--items", "many"}, exitMisuse, `invalid argument "many" for "--items"`},
		{"too few", []string{"demo", "--items", "1"}, exitMisuse, "items is 1, want 2 to 1000"},
		{"no such folder", []string{"demo", "--dir", "/no/such/folder"}, exitFailed, "/no/such/folder: no such file"},
		{"no settings", []string{demoProcess}, exitFailed, "read settings"},
		{"get what", []string{"get"}, exitMisuse, "elasticron get needs one of: jobs, items, executions, instances, servers, operations"},
		{"get something else", []string{"get", "pods"}, exitMisuse, `"pods" is unknown, want one of: jobs`},
		{"get something else, somewhere", []string{"get", "pods", "--etcd", "http://h:2379"}, exitMisuse, `"pods" is unknown, want one of: jobs`},
		{"get somewhere", []string{"get", "--etcd", "http://h:2379"}, exitMisuse, "elasticron get needs one of: jobs"},
		{"nothing to dump", []string{"dump", "", "--secrets"}, exitMisuse, "elasticron dump: an argument is empty"},
		{"nothing to get", []string{"get", "jobs", ""}, exitMisuse, "elasticron get jobs: an argument is empty"},
		{"nothing to audit", []string{"audit", ""}, exitMisuse, "elasticron audit: an argument is empty"},
		{"nothing to edit", []string{"edit", ""}, exitMisuse, "elasticron edit: an argument is empty"},
		{"help for nothing", []string{"help", "nosuch"}, exitMisuse, `there is no command "nosuch"`},
		{"help for nothing to get", []string{"help", "get", "nosuch"}, exitMisuse, `there is no command "get nosuch"`},
		{"a shell", []string{"completion", "tcsh"}, exitMisuse, `"tcsh" is unknown, want one of: bash, fish, powershell, zsh`},
		{"too many", []string{"get", "jobs", "a", "b"}, exitMisuse, "accepts at most 1 arg(s), received 2"},
		{"a format", []string{"get", "jobs", "-o", "xml"}, exitMisuse, `invalid argument "xml" for "-o, --output" flag: want one of: wide, json, yaml, name`},
		{"a pattern", []string{"get", "jobs", "--match", "["}, exitMisuse, `--match is "["`},
		{"a status", []string{"get", "jobs", "--status", "paused,nonsense"}, exitMisuse, `--status of jobs is "nonsense", want some of: ok, crashed, disabled,`},
		{"a status of items", []string{"get", "jobs", "--status", "pending"}, exitMisuse, `--status of jobs is "pending"`},
		{"an outcome", []string{"get", "executions", "--status", "ok"}, exitMisuse, `"ok", want some of: running, success, failure, interrupted, lost`},
		{"a verb", []string{"get", "operations", "--status", "Trigger,edit"}, exitMisuse, `"edit", want some of: trigger, backfill, disable job,`},
		{"watch as YAML", []string{"get", "jobs", "-w", "-o", "yaml"}, exitMisuse, "--watch is given with -o yaml"},
		{"no cron", []string{"cron"}, exitMisuse, "requires at least 1 arg(s)"},
		{"a cron that cannot be read", []string{"cron", "0 61 * * * ?"}, exitMisuse, "61"},
		{"a cron that never fires", []string{"cron", "0 0 0 30 2 ?"}, exitFailed, `"0 0 0 30 2 ?" never fires after 2026-`},
		{"a zone", []string{"cron", "@daily", "--zone", "Mars"}, exitMisuse, `--zone is "Mars", want an IANA name`},
		{"a rule", []string{"cron", "@daily", "--daylight-saving", "never"}, exitMisuse, `--daylight-saving is "never"`},
		{"a time", []string{"cron", "@daily", "--from", "now"}, exitMisuse, `--from is "now"`},
		{"no fires", []string{"cron", "@daily", "-c", "0"}, exitMisuse, "--count is 0, want 1 to 10000"},
		{"no file", []string{"diff"}, exitMisuse, "--filename is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, errOut, status := carryOut(t, tt.args...)
			require.Equal(t, tt.status, status, errOut)
			require.Contains(t, errOut, tt.want)
		})
	}
}
