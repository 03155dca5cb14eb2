package observability

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const (
	rulesFile = "../alerts/elasticron.rules.yml"
	runbook   = "https://github.com/elasticron/elasticron/blob/main/docs/alerts.md#"
)

// rule is an alert.
type rule struct {
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

func readRules(t *testing.T) (rules []rule) {
	t.Helper()
	text, err := os.ReadFile(rulesFile)
	require.NoError(t, err)
	var file struct {
		Groups []struct {
			Rules []rule `yaml:"rules"`
		} `yaml:"groups"`
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	for _, group := range file.Groups {
		rules = append(rules, group.Rules...)
	}
	require.NotEmpty(t, rules)
	return rules
}

// ofAlert finds the labels that the text of an alert shows.
var ofAlert = regexp.MustCompile(`\$labels\.(\w+)`)

// Rules ask for what is exported, show labels that an alert has, and say how bad it is and where to read on.
func TestRules(t *testing.T) {
	t.Parallel()
	metrics := describedMetrics(t)
	for _, r := range readRules(t) {
		t.Run(r.Alert, func(t *testing.T) {
			t.Parallel()
			q := parseQuery(t, metrics, r.Expr)
			require.Contains(t, []string{"critical", "warning"}, r.Labels["severity"])
			require.NotEmpty(t, r.For)
			require.Equal(t, runbook+strings.ToLower(r.Alert), r.Annotations["runbook_url"])
			for _, annotation := range []string{"summary", "description"} {
				require.NotEmpty(t, r.Annotations[annotation])
				for _, shown := range ofAlert.FindAllStringSubmatch(r.Annotations[annotation], -1) {
					require.Contains(t, q.labels, shown[1], "%s shows a label that the alert does not have", annotation)
				}
			}
		})
	}
}
