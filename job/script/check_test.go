package script_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/script"
)

func TestCheckLooksForTheCommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "report.sh")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data"), nil, 0o600))
	for _, test := range []struct {
		dir, line string
		found     bool
	}{
		{"", path + " --mode x", true},
		{"", "sh -c true", true},
		{dir, "./report.sh", true},
		{dir, "sh", true},
		{"", "./report.sh", false},
		{"", path + "x", false},
		{"", filepath.Join(dir, "data"), false},
		{"", "no-such-program", false},
	} {
		cfg := job.Config{Name: "report", Cron: "0 0 6 * * ?", ShardingTotalCount: 1}
		cfg.Type, cfg.ScriptCommandLine = job.TypeScript, test.line
		err := script.Job{Dir: test.dir}.Check(cfg)
		if test.found {
			require.NoError(t, err, "%s", test.line)
			continue
		}
		require.ErrorIs(t, err, job.ErrInvalidConfig)
		require.ErrorContains(t, err, "ScriptCommandLine")
	}
}
