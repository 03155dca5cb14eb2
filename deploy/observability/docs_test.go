package observability

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/" + name)
	require.NoError(t, err)
	return string(text)
}

var (
	inCode   = regexp.MustCompile("`([^`]+)`")
	verbs    = regexp.MustCompile(`(?m)^## elasticron (.+)$`)
	verbOf   = regexp.MustCompile(`^elasticron ([a-z-]+)(?: ([a-z]+))?`)
	messages = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [A-Z]")
	flagOf   = regexp.MustCompile(`--[a-z-]+`)
)

// Each alert has its section, in the order of the rules, and no section is without one. What to run is a command that
// there is, and what to look for in the log is a message that is logged.
func TestTheDocsOfAlerts(t *testing.T) {
	t.Parallel()
	var want, titles []string
	for _, r := range readRules(t) {
		want = append(want, r.Alert)
	}
	sections := strings.Split(readDoc(t, "alerts.md"), "\n## ")[1:]
	commands, logged := make(map[string]bool), make(map[string]bool)
	reference := readDoc(t, "cli.md")
	for _, verb := range verbs.FindAllStringSubmatch(reference, -1) {
		commands[verb[1]] = true
	}
	for _, row := range messages.FindAllStringSubmatch(readDoc(t, "logs.md"), -1) {
		logged[row[1]] = true
	}
	metrics := describedMetrics(t)
	for _, section := range sections {
		title, text, _ := strings.Cut(section, "\n")
		if !strings.HasPrefix(title, "Elasticron") {
			continue
		}
		titles = append(titles, title)
		for _, part := range []string{"**Meaning.** ", "**Look at** ", "**Do.** ", "**In the log:** "} {
			require.Equal(t, 1, strings.Count(text, part), "the section of %s has a part %q", title, part)
		}
		body, lines, _ := strings.Cut(text, "**In the log:** ")
		for _, message := range inCode.FindAllStringSubmatch(lines, -1) {
			require.True(t, logged[message[1]], "%s: docs/logs.md lacks %q", title, message[1])
		}
		for _, code := range inCode.FindAllStringSubmatch(body, -1) {
			switch verb := verbOf.FindStringSubmatch(code[1]); {
			case verb != nil:
				require.True(t, commands[verb[1]] || commands[verb[1]+" "+verb[2]], "%s: there is no %q", title, code[1])
				for _, flag := range flagOf.FindAllString(code[1], -1) {
					require.Contains(t, reference, flag, title)
				}
			case strings.HasPrefix(code[1], "elasticron_"):
				require.Contains(t, metrics, code[1], title)
			}
		}
	}
	require.Equal(t, want, titles)
}

// The docs name each rule, and each panel of the processes, that stands on buckets.
func TestTheDocsOfBuckets(t *testing.T) {
	t.Parallel()
	_, section, _ := strings.Cut(readDoc(t, "alerts.md"), "**Buckets.**")
	section, _, _ = strings.Cut(section, "\n\n")
	section = strings.Join(strings.Fields(section), " ")
	var rules []string
	for _, r := range readRules(t) {
		if strings.Contains(r.Expr, "_bucket") {
			rules = append(rules, r.Alert)
		}
	}
	var named []string
	for _, code := range inCode.FindAllStringSubmatch(section, -1) {
		if strings.HasPrefix(code[1], "Elasticron") {
			named = append(named, code[1])
		}
	}
	require.Equal(t, rules, named)
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			if strings.Contains(target.Expr, "_bucket") && !strings.Contains(target.Expr, "elasticron_console_") {
				require.Contains(t, section, "*"+p.Title+"*")
			}
		}
	}
}
