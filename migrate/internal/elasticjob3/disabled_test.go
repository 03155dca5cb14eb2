package elasticjob3_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/migrate/internal/elasticjob3"
)

func TestSetDisabled(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ before, after string }{
		"as Java writes it": {"cron: 0 0 0 * * ?\ndisabled: false\njobName: a\n", "cron: 0 0 0 * * ?\ndisabled: true\njobName: a\n"},
		"behind emoji":      {"{description: '😀é', disabled: no, jobName: a}", "{description: '😀é', disabled: true, jobName: a}"},
		"missing":           {"jobName: a", "jobName: a\ndisabled: true\n"},
		"missing in flow":   {"{jobName: a}", "{disabled: true, jobName: a}"},
		"behind a text":     {"description: |\n  x\njobName: a\n", "description: |\n  x\njobName: a\ndisabled: true\n"},
		"in a text":         {"description: |\n  disabled: false\njobName: a\ndisabled: false\n", "description: |\n  disabled: false\njobName: a\ndisabled: true\n"},
		"is so":             {"jobName: a\ndisabled: true\n", "jobName: a\ndisabled: true\n"},
	} {
		got, err := elasticjob3.SetDisabled("c", test.before, true)
		require.NoError(t, err, name)
		require.Equal(t, test.after, got, name)
		back, err := elasticjob3.SetDisabled("c", got, false)
		require.NoError(t, err, name)
		read, err := elasticjob3.Decode("c", back)
		require.NoError(t, err, name)
		require.False(t, read.Config.Disabled, name)
	}
	for name, text := range map[string]string{
		"a reference":      "description: &x false\njobName: a\ndisabled: *x\n",
		"a document's end": "jobName: a\n...\n",
		"no YAML":          "[",
	} {
		_, err := elasticjob3.SetDisabled("c", text, true)
		require.Error(t, err, name)
	}
}
