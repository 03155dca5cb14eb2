package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/script"
)

// A line whose first word is empty names no program, which is known before anything runs.
func TestWordsWithoutAProgram(t *testing.T) {
	t.Parallel()
	for _, line := range []string{`''`, `""`, `'' a`, ` "" '' a`} {
		_, err := script.Words(line)
		require.ErrorIs(t, err, script.ErrCommandLine, line)
		require.ErrorContains(t, err, "its first word, the program, is empty")
		cfg := job.Config{Name: "report", Cron: "0 0 6 * * ?", ShardingTotalCount: 1, Type: job.TypeScript, ScriptCommandLine: line}
		var fault *job.FieldError
		_, err = script.CommandLine(cfg)
		require.ErrorAs(t, err, &fault, line)
		require.Equal(t, "ScriptCommandLine", fault.Field)
		_, err = script.Job{}.Configure(cfg)
		require.ErrorAs(t, err, &fault, line)
	}
	words, err := script.Words(`a '' ""`)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "", ""}, words)
}
