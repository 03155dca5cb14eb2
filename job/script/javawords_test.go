package script_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/script"
)

func TestJavaWordsThatCannotBe(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"": "no words", "  ": "no words", "'' a": "no words", "\t": "no words",
		"a 'b": "a quote is open", `a "b'`: "a quote is open",
		`a "x'y"'z"z'`: "both kinds of quotes",
	} {
		_, err := script.JavaWords(line)
		require.ErrorIs(t, err, script.ErrCommandLine, line)
		require.ErrorContains(t, err, want, line)
	}
}

func TestAJobWithJavaQuoting(t *testing.T) {
	t.Parallel()
	cfg := job.Config{Name: "a", Type: job.TypeScript, ScriptCommandLine: `\bin\no-such "a b`}
	var fault *job.FieldError
	require.ErrorAs(t, script.Job{JavaQuoting: true}.Check(cfg), &fault)
	require.ErrorContains(t, fault, "a quote is open")
	cfg.ScriptCommandLine += `"`
	require.ErrorAs(t, script.Job{JavaQuoting: true}.Check(cfg), &fault)
	require.Equal(t, "/bin/no-such", fault.Value)
}
