package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/metrics/internal/catalog"
	"github.com/elasticron/elasticron/metrics/otel"
	"github.com/elasticron/elasticron/metrics/prometheus"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler"
)

// tell has an exporter hear of everything that there is.
func tell(exporter interface {
	scheduler.Observer
	scheduler.HealthObserver
},
) {
	now, why := time.Now(), errors.New("out of stock")
	item := scheduler.ItemEvent{
		Round: "r", Context: job.ShardingContext{JobName: "orders", Source: job.Scheduled, Fire: now}, Began: now,
	}
	round := scheduler.RoundEvent{ID: "r", Job: "orders", Items: []int{0}, Began: now}
	ended, over := item, round
	ended.Ended, ended.Err, over.Ended = now, why, now
	for _, event := range []scheduler.Event{
		round, item,
		scheduler.WaitingEvent{Job: "orders", Waiting: 1},
		scheduler.RetryEvent{Round: "r", Context: item.Context, Err: why},
		ended, over,
		scheduler.ErrorHandlerEvent{Context: item.Context},
		scheduler.ViewEvent{Job: "orders", Err: why},
		scheduler.JoinEvent{Job: "orders"},
		scheduler.LeadershipEvent{Job: "orders", Leading: true},
		scheduler.PauseEvent{Job: "orders", Err: why},
		scheduler.ReshardEvent{Job: "orders", Moved: 1},
		scheduler.ConnectionEvent{Change: scheduler.ConnectionEstablished},
		scheduler.WholeRoundEvent{Job: "orders", Phase: "started", Outcome: "success"},
		scheduler.LoadEvent{LoadHealth: scheduler.LoadHealth{Overloaded: true, Wanted: 2, Begun: 1, Dropped: 1}},
		scheduler.ListenerEvent{Job: "orders", Listener: scheduler.ListenerAfterRun, Err: why},
	} {
		exporter.Observe(event)
	}
	exporter.ObserveHealth(func(context.Context) scheduler.Health { return good() })
}

// line is how this test writes a metric down.
func line(name string, kind catalog.Kind, labels []string) string {
	slices.Sort(labels)
	return fmt.Sprintf("%s %s {%s}", name, kind, strings.Join(slices.Compact(labels), ","))
}

func linesOf(metrics []catalog.Metric, name func(catalog.Metric) string, label func(catalog.Label) string) (lines []string) {
	for _, m := range metrics {
		var labels []string
		for _, l := range m.Labels {
			labels = append(labels, label(l))
		}
		lines = append(lines, line(name(m), m.Kind, labels))
	}
	return lines
}

// What Prometheus is shown, and what it is told that there is, are the metrics of the catalogue.
func TestPrometheusHasAllMetrics(t *testing.T) {
	t.Parallel()
	want := linesOf(catalog.All(), catalog.Metric.Prometheus, catalog.Label.Prometheus)
	collector, err := prometheus.New(prometheus.WithItems(1))
	require.NoError(t, err)
	tell(collector)
	registry := client.NewPedanticRegistry()
	require.NoError(t, registry.Register(collector))
	families, err := registry.Gather()
	require.NoError(t, err)
	var shown []string
	for _, f := range families {
		var labels []string
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName())
			}
		}
		shown = append(shown, line(f.GetName(), catalog.Kind(strings.ToLower(f.GetType().String())), labels))
	}
	require.ElementsMatch(t, want, shown)

	descriptions := make(chan *client.Desc, 2*len(want))
	collector.Describe(descriptions)
	close(descriptions)
	var names, described []string
	for d := range descriptions {
		described = append(described, regexp.MustCompile(`fqName: "(\w+)"`).FindStringSubmatch(d.String())[1])
	}
	for _, m := range catalog.All() {
		names = append(names, m.Prometheus())
	}
	require.ElementsMatch(t, names, described)
}

// OpenTelemetry is told the same, but for single items.
func TestOpenTelemetryHasAllMetrics(t *testing.T) {
	t.Parallel()
	metrics := slices.DeleteFunc(slices.Clone(catalog.All()), func(m catalog.Metric) bool { return m.Has(catalog.Item) })
	reader := metric.NewManualReader()
	observer, err := otel.New(otel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))))
	require.NoError(t, err)
	tell(observer)
	var data metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &data))
	var shown, units, wantUnits []string
	for _, m := range data.ScopeMetrics[0].Metrics {
		kind, attributes := kindOf(t, m.Data)
		shown = append(shown, line(m.Name, kind, attributes))
		units = append(units, m.Name+" "+m.Unit+" "+m.Description)
	}
	for _, m := range metrics {
		wantUnits = append(wantUnits, m.OpenTelemetry()+" "+m.Unit+" "+m.Help)
	}
	require.ElementsMatch(t, linesOf(metrics, catalog.Metric.OpenTelemetry, catalog.Label.OpenTelemetry), shown)
	require.ElementsMatch(t, wantUnits, units)
}

// kindOf tells what is collected, and by which attributes.
func kindOf(t *testing.T, data metricdata.Aggregation) (kind catalog.Kind, attributes []string) {
	t.Helper()
	note := func(set attribute.Set) {
		for _, kv := range set.ToSlice() {
			attributes = append(attributes, string(kv.Key))
		}
	}
	switch d := data.(type) {
	case metricdata.Sum[int64]:
		kind = catalog.Gauge
		if d.IsMonotonic {
			kind = catalog.Counter
		}
		for _, p := range d.DataPoints {
			note(p.Attributes)
		}
	case metricdata.Gauge[int64]:
		kind = catalog.Gauge
		for _, p := range d.DataPoints {
			note(p.Attributes)
		}
	case metricdata.Gauge[float64]:
		kind = catalog.Gauge
		for _, p := range d.DataPoints {
			note(p.Attributes)
		}
	case metricdata.Histogram[float64]:
		kind = catalog.Histogram
		for _, p := range d.DataPoints {
			require.Equal(t, catalog.Buckets(), p.Bounds)
			note(p.Attributes)
		}
	default:
		t.Fatalf("data of an unknown kind: %T", data)
	}
	return kind, attributes
}

// The table of docs/metrics.md has each metric, and none besides.
func TestTheTableOfMetrics(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../docs/metrics.md")
	require.NoError(t, err)
	var rows, want []string
	for row := range strings.Lines(string(text)) {
		if strings.HasPrefix(row, "| `elasticron_") {
			rows = append(rows, strings.TrimSpace(row))
		}
	}
	for _, m := range catalog.All() {
		var labels []string
		for _, l := range m.Labels {
			labels = append(labels, "`"+l.Prometheus()+"`")
		}
		want = append(want, fmt.Sprintf("| `%s` | %s | %s | %s |", m.Prometheus(), m.Kind, strings.Join(labels, ", "), m.Help))
	}
	require.Equal(t, strings.Join(want, "\n"), strings.Join(rows, "\n"), "the rows of docs/metrics.md, in this order")
}

// outcomes are ends of executions, and what metrics and spans call them.
func outcomes() map[string]scheduler.ItemEvent {
	now := time.Now()
	end := func(err error, cut bool, refused error) scheduler.ItemEvent {
		return scheduler.ItemEvent{
			Round: "r", Context: job.ShardingContext{JobName: "orders", Source: job.Manual}, Began: now, Ended: now,
			Err: err, CutShort: cut, Refused: refused,
		}
	}
	return map[string]scheduler.ItemEvent{
		"success":                  end(nil, false, nil),
		"failure":                  end(errors.New("out of stock"), false, nil),
		"failure, nobody asked it": end(job.ErrYielded, false, nil),
		"interrupted":              end(fmt.Errorf("at step 7: %w", job.ErrYielded), true, nil),
		"interrupted, by a stop":   end(context.Canceled, true, nil),
		"refused":                  end(context.Canceled, true, registry.ErrSessionLost),
		"refused, though it is ok": end(nil, false, registry.ErrSessionLost),
	}
}

// What made room, or was cut short, is neither a failure nor a success.
func TestOutcomesOfExecutions(t *testing.T) {
	t.Parallel()
	for name, e := range outcomes() {
		want, _, _ := strings.Cut(name, ",")
		require.Equal(t, want, catalog.OutcomeOf(e), name)
		collector, err := prometheus.New()
		require.NoError(t, err)
		collector.Observe(e)
		registry := client.NewPedanticRegistry()
		require.NoError(t, registry.Register(collector))
		families, err := registry.Gather()
		require.NoError(t, err)
		require.Contains(t, fmt.Sprint(families), fmt.Sprintf("%q", want), name)
	}
}
