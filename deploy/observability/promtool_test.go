package observability

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/elasticron/elasticron/integration/debian"
)

// rulesTestFile has a case of each alert; hoursTestFile has those that take many hours.
const (
	rulesTestFile = "../alerts/elasticron_test.yml"
	hoursTestFile = "../alerts/hours_test.yml"
)

// Prometheus' own tool finds the rules in order, and they fire and keep quiet as their unit tests say.
func TestPromtool(t *testing.T) {
	t.Parallel()
	promtool := debian.Need(t, "promtool", "prometheus")
	for _, args := range [][]string{
		{"check", "rules", "--lint-fatal", rulesFile},
		{"test", "rules", rulesTestFile, hoursTestFile},
	} {
		out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput()
		require.NoError(t, err, "promtool %v\n%s", args, out)
		t.Logf("promtool %v\n%s", args, out)
	}
}

// Each alert has a case in which it fires, and one in which it does not.
func TestEveryAlertIsTested(t *testing.T) {
	t.Parallel()
	var file struct {
		Tests []struct {
			Cases []struct {
				Alert string `yaml:"alertname"`
				Want  []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		} `yaml:"tests"`
	}
	text, err := os.ReadFile(rulesTestFile)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &file))
	fires, quiet := make(map[string]bool), make(map[string]bool)
	for i, test := range file.Tests {
		for _, c := range test.Cases {
			switch {
			case len(c.Want) > 0:
				fires[c.Alert] = true
			case i > 0: // in the first one nothing is wrong, and so no alert says anything
				quiet[c.Alert] = true
			}
		}
	}
	for _, r := range readRules(t) {
		require.True(t, fires[r.Alert], "no test in which %s fires", r.Alert)
		require.True(t, quiet[r.Alert], "no test in which %s is near to firing, and does not", r.Alert)
		delete(fires, r.Alert)
	}
	require.Empty(t, fires, "there are no such alerts")
}
