package otel

import (
	"errors"

	"go.opentelemetry.io/otel/metric"

	"github.com/elasticron/elasticron/metrics/internal/catalog"
)

// instruments are the metrics that events change.
type instruments struct {
	duration, lateness, round                                metric.Float64Histogram
	running                                                  metric.Int64UpDownCounter
	waiting, leader, connected, paused, blind, overloaded    metric.Int64Gauge
	executions, retries, elections, reshardings, moved       metric.Int64Counter
	session, barriers, listenerFailures, handlers, overloads metric.Int64Counter
}

func newInstruments(meter metric.Meter) (instruments, error) {
	var i instruments
	var faults []error
	counter := func(m catalog.Metric) metric.Int64Counter {
		c, err := meter.Int64Counter(m.OpenTelemetry(), metric.WithDescription(m.Help), metric.WithUnit(m.Unit))
		faults = append(faults, err)
		return c
	}
	gauge := func(m catalog.Metric) metric.Int64Gauge {
		g, err := meter.Int64Gauge(m.OpenTelemetry(), metric.WithDescription(m.Help), metric.WithUnit(m.Unit))
		faults = append(faults, err)
		return g
	}
	histogram := func(m catalog.Metric) metric.Float64Histogram {
		h, err := meter.Float64Histogram(m.OpenTelemetry(), metric.WithDescription(m.Help), metric.WithUnit(m.Unit),
			metric.WithExplicitBucketBoundaries(catalog.Buckets()...))
		faults = append(faults, err)
		return h
	}
	i.executions = counter(catalog.Executions)
	var err error
	i.running, err = meter.Int64UpDownCounter(catalog.ExecutionsRunning.OpenTelemetry(),
		metric.WithDescription(catalog.ExecutionsRunning.Help), metric.WithUnit(catalog.ExecutionsRunning.Unit))
	faults = append(faults, err)
	i.waiting = gauge(catalog.ExecutionsWaiting)
	i.duration = histogram(catalog.Duration)
	i.lateness = histogram(catalog.Lateness)
	i.retries = counter(catalog.Retries)
	i.round = histogram(catalog.RoundDuration)
	i.leader = gauge(catalog.Leader)
	i.paused = gauge(catalog.Paused)
	i.blind = gauge(catalog.Blind)
	i.elections = counter(catalog.Elections)
	i.reshardings = counter(catalog.Reshardings)
	i.moved = counter(catalog.ItemsMoved)
	i.connected = gauge(catalog.SessionConnected)
	i.session = counter(catalog.SessionChanges)
	i.overloaded = gauge(catalog.Overloaded)
	i.overloads = counter(catalog.OverloadFires)
	i.barriers = counter(catalog.Barriers)
	i.listenerFailures = counter(catalog.ListenerFailures)
	i.handlers = counter(catalog.ErrorHandlerFailures)
	return i, errors.Join(faults...)
}
