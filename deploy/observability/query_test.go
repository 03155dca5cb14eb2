package observability

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/console/figures"
	"github.com/elasticron/elasticron/console/live"
	"github.com/elasticron/elasticron/metrics/prometheus"
)

// ofTargets are labels that Prometheus gives to all that it scrapes, most often: pod comes from Kubernetes.
var ofTargets = []string{"job", "instance", "pod"}

// described is a metric that there is.
type described struct {
	kind   string
	labels []string
}

var (
	descriptions = regexp.MustCompile(`^Desc\{fqName: "(\w+)", .*, variableLabels: \{([\w,]*)\}\}$`)
	rowsOfDocs   = regexp.MustCompile("(?m)^\\| `(elasticron_\\w+)` \\| (\\w+) \\|")
)

// nobody is the guard of a console of which only the descriptions count.
type nobody struct{}

func (nobody) Logins() (succeeded, failed, delayed int64) { return 0, 0, 0 }
func (nobody) Sessions() int                              { return 0 }

// describedMetrics asks the collectors of Elasticron and of its console for their metrics, and docs/metrics.md and
// docs/console.md for their kinds; tests of metrics/internal/catalog and of console/figures hold these pages to the
// collectors. up is Prometheus' own.
func describedMetrics(t *testing.T) map[string]described {
	t.Helper()
	kinds := make(map[string]string)
	for _, page := range []string{"metrics.md", "console.md"} {
		for _, row := range rowsOfDocs.FindAllStringSubmatch(readDoc(t, page), -1) {
			kinds[row[1]] = row[2]
		}
	}
	collector, err := prometheus.New(prometheus.WithItems(1))
	require.NoError(t, err)
	told := make(chan *client.Desc, 1000)
	collector.Describe(told)
	figures.New(nil, live.NewLimits(), nobody{}).Describe(told)
	close(told)
	all := map[string]described{"up": {kind: "gauge", labels: ofTargets}}
	for d := range told {
		parts := descriptions.FindStringSubmatch(d.String())
		require.NotNil(t, parts, "%s is not as this test knows it", d)
		name := parts[1]
		of := slices.Concat(ofTargets, strings.FieldsFunc(parts[2], func(r rune) bool { return r == ',' }))
		require.NotEmpty(t, kinds[name], "neither docs/metrics.md nor docs/console.md has %s", name)
		if kinds[name] != "histogram" {
			all[name] = described{kinds[name], of}
			continue
		}
		all[name+"_bucket"] = described{"counter", append(slices.Clone(of), "le")}
		all[name+"_sum"], all[name+"_count"] = described{"counter", of}, described{"counter", of}
	}
	require.Greater(t, len(all), 50)
	return all
}

// query is what is known of a query.
type query struct {
	metrics []string // that it asks for
	labels  []string // that its answers may have
}

// parseQuery parses a query, and fails unless all that it asks for is there, rates are of counters, and quantiles see
// all buckets.
func parseQuery(t *testing.T, metrics map[string]described, text string) query {
	t.Helper()
	expr, err := parser.NewParser(parser.Options{}).ParseExpr(text)
	require.NoError(t, err, text)
	w := walk{t: t, text: text, metrics: metrics, asked: make(map[string]bool)}
	q := query{labels: w.labels(expr)}
	q.metrics = slices.Sorted(maps.Keys(w.asked))
	return q
}

// walk goes through a query, from its leaves up.
type walk struct {
	t       *testing.T
	text    string
	metrics map[string]described
	asked   map[string]bool
}

// labels returns which labels the values of an expression may have.
func (w walk) labels(expr parser.Expr) []string {
	w.t.Helper()
	switch e := expr.(type) {
	case *parser.VectorSelector:
		return w.selector(e)
	case *parser.MatrixSelector:
		return w.labels(e.VectorSelector)
	case *parser.SubqueryExpr:
		return w.labels(e.Expr)
	case *parser.ParenExpr:
		return w.labels(e.Expr)
	case *parser.UnaryExpr:
		return w.labels(e.Expr)
	case *parser.AggregateExpr:
		inside := w.labels(e.Expr)
		if e.Op == parser.TOPK || e.Op == parser.BOTTOMK { // they choose, and change nothing
			return inside
		}
		if e.Without {
			return without(inside, e.Grouping)
		}
		require.Subset(w.t, inside, e.Grouping, "%s is by labels that are not there", e)
		return e.Grouping
	case *parser.BinaryExpr:
		return w.binary(e)
	case *parser.Call:
		return w.call(e)
	case *parser.NumberLiteral, *parser.StringLiteral:
		return nil
	default:
		w.t.Fatalf("%s: this test does not know %T", w.text, expr)
		return nil
	}
}

func (w walk) selector(e *parser.VectorSelector) []string {
	w.t.Helper()
	metric, there := w.metrics[e.Name]
	require.True(w.t, there, "%s asks for %q, which nobody exports", w.text, e.Name)
	w.asked[e.Name] = true
	for _, m := range e.LabelMatchers {
		if m.Name != model.MetricNameLabel {
			require.Contains(w.t, metric.labels, m.Name, "%s asks for a label that %s does not have", w.text, e.Name)
		}
	}
	return metric.labels
}

func (w walk) binary(e *parser.BinaryExpr) []string {
	w.t.Helper()
	left, right := w.labels(e.LHS), w.labels(e.RHS)
	switch {
	case e.LHS.Type() == parser.ValueTypeScalar:
		return right
	case e.RHS.Type() == parser.ValueTypeScalar:
		return left
	case e.VectorMatching.On:
		require.Subset(w.t, left, e.VectorMatching.MatchingLabels, "%s", w.text)
		require.Subset(w.t, right, e.VectorMatching.MatchingLabels, "%s", w.text)
	default:
		ignored := e.VectorMatching.MatchingLabels
		require.ElementsMatch(w.t, without(left, ignored), without(right, ignored), "%s matches series with different labels", w.text)
	}
	return left
}

func (w walk) call(e *parser.Call) []string {
	w.t.Helper()
	var all []string
	for _, arg := range e.Args {
		all = append(all, w.labels(arg)...)
	}
	switch e.Func.Name {
	case "rate", "increase", "irate":
		selected := e.Args[0].(*parser.MatrixSelector).VectorSelector.(*parser.VectorSelector)
		require.Equal(w.t, "counter", w.metrics[selected.Name].kind, "%s: the rate of %s, which is no counter", w.text, selected.Name)
	case "histogram_quantile":
		require.Contains(w.t, all, "le", "%s: a quantile without the buckets", w.text)
		return without(all, []string{"le"})
	case "absent":
		return nil
	}
	return all
}

func without(all, less []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(one string) bool { return slices.Contains(less, one) })
}
