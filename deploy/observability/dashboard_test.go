package observability

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const dashboardFile = "../dashboard/elasticron.json"

type dashboard struct {
	Panels     []panel `json:"panels"`
	Templating struct {
		List []variable `json:"list"`
	} `json:"templating"`
}

type variable struct {
	Name       string `json:"name"`
	Type       string `json:"type"`
	Definition string `json:"definition"`
}

type panel struct {
	ID          int    `json:"id"`
	Type        string `json:"type"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Grid        struct {
		X, Y, W, H int
	} `json:"gridPos"`
	Targets []struct {
		Expr       string `json:"expr"`
		Legend     string `json:"legendFormat"`
		DataSource struct {
			UID string `json:"uid"`
		} `json:"datasource"`
	} `json:"targets"`
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	text, err := os.ReadFile(dashboardFile)
	require.NoError(t, err)
	var d dashboard
	require.NoError(t, json.Unmarshal(text, &d))
	return d
}

var (
	variables   = regexp.MustCompile(`\$(\w+)`)
	inLegends   = regexp.MustCompile(`\{\{(\w+)\}\}`)
	labelValues = regexp.MustCompile(`^label_values\((.+), (\w+)\)$`)
)

// plain is a query as Grafana sends it, but for the values of variables within strings.
func plain(t *testing.T, d dashboard, text string) string {
	t.Helper()
	text = strings.ReplaceAll(text, "$__rate_interval", "5m")
	for _, used := range variables.FindAllStringSubmatch(text, -1) {
		declared := slices.ContainsFunc(d.Templating.List, func(v variable) bool { return v.Name == used[1] })
		require.True(t, declared, "%s uses a variable that there is not", text)
	}
	return text
}

// Every query asks for what is exported, and its legend for labels that its answers have.
func TestQueriesOfTheDashboard(t *testing.T) {
	t.Parallel()
	metrics, d := describedMetrics(t), readDashboard(t)
	shown := make(map[string]bool)
	for _, p := range d.Panels {
		if p.Type == "row" {
			continue
		}
		require.NotEmpty(t, p.Targets, p.Title)
		require.NotEmpty(t, p.Description, p.Title)
		for _, target := range p.Targets {
			require.Equal(t, "${datasource}", target.DataSource.UID, p.Title)
			q := parseQuery(t, metrics, plain(t, d, target.Expr))
			for _, legend := range inLegends.FindAllStringSubmatch(target.Legend, -1) {
				require.Contains(t, q.labels, legend[1], "the legend of %q", p.Title)
			}
			for _, metric := range q.metrics {
				shown[metric] = true
			}
		}
	}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		parts := labelValues.FindStringSubmatch(v.Definition)
		require.NotNil(t, parts, v.Definition)
		require.Contains(t, parseQuery(t, metrics, plain(t, d, parts[1])).labels, parts[2])
	}
	for _, r := range readRules(t) { // when an alert comes, there is something to look at
		for _, metric := range parseQuery(t, metrics, r.Expr).metrics {
			require.True(t, shown[metric], "the dashboard does not show %s, of which %s is", metric, r.Alert)
		}
	}
}

// The rows are there, what needs a person first, and no panel lies on another one.
func TestPanelsOfTheDashboard(t *testing.T) {
	t.Parallel()
	var rows []string
	ids, taken := make(map[int]bool), make(map[string]string)
	for _, p := range readDashboard(t).Panels {
		require.False(t, ids[p.ID], "two panels have the id %d", p.ID)
		ids[p.ID] = true
		if p.Type == "row" {
			rows = append(rows, p.Title)
		}
		require.LessOrEqual(t, p.Grid.X+p.Grid.W, 24, p.Title)
		for x := p.Grid.X; x < p.Grid.X+p.Grid.W; x++ {
			for y := p.Grid.Y; y < p.Grid.Y+p.Grid.H; y++ {
				at := fmt.Sprint(x, " ", y)
				require.Empty(t, taken[at], "%q lies there, too", p.Title)
				taken[at] = p.Title
			}
		}
	}
	require.Equal(t, []string{
		"Needs a person", "Throughput", "Lateness", "Misfires and failovers", "Sessions and leaders", "Each job", "Consoles",
	}, rows)
}
