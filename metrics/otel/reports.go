package otel

import (
	"context"
	"errors"

	"go.opentelemetry.io/otel/metric"

	"github.com/elasticron/elasticron/metrics/internal/catalog"
	"github.com/elasticron/elasticron/scheduler"
)

// observeReports has the meter ask for the health of the scheduler whenever it collects.
func (o *Observer) observeReports(meter metric.Meter) error {
	gauges := make(map[string]metric.Float64Observable) // by name of the metric
	var all []metric.Observable
	var faults []error
	for _, m := range catalog.Reported() {
		g, err := meter.Float64ObservableGauge(m.OpenTelemetry(), metric.WithDescription(m.Help), metric.WithUnit(m.Unit))
		faults = append(faults, err)
		gauges[m.Name], all = g, append(all, g)
	}
	_, err := meter.RegisterCallback(func(ctx context.Context, values metric.Observer) error {
		o.mu.Lock()
		report := o.report
		o.mu.Unlock()
		for _, s := range report.Samples(ctx) {
			if s.Has(catalog.Job) {
				values.ObserveFloat64(gauges[s.Name], s.Value, metric.WithAttributes(attrJob.String(s.Job)))
			} else {
				values.ObserveFloat64(gauges[s.Name], s.Value)
			}
		}
		return nil
	}, all...)
	return errors.Join(append(faults, err)...)
}

// ObserveHealth implements [scheduler.HealthObserver].
func (o *Observer) ObserveHealth(health func(context.Context) scheduler.Health) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.report = health
}
