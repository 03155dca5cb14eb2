package prometheus

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticron/elasticron/metrics/internal/catalog"
	"github.com/elasticron/elasticron/scheduler"
)

// reports are the metrics that the health of the scheduler tells, asked for when somebody collects.
type reports map[string]*prometheus.Desc // by name of the metric

func newReports() reports {
	all := make(reports)
	for _, m := range catalog.Reported() {
		all[m.Name] = prometheus.NewDesc(m.Prometheus(), m.Help, labelsOf(m), nil)
	}
	return all
}

// ObserveHealth implements [scheduler.HealthObserver].
func (c *Collector) ObserveHealth(health func(context.Context) scheduler.Health) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report = health
}

// collectReports adds up what is reported of jobs that share a label. Of times, the newest counts.
func (c *Collector) collectReports(metrics chan<- prometheus.Metric) {
	c.mu.Lock()
	report := c.report
	c.mu.Unlock()
	type series struct{ metric, job string }
	values := make(map[series]float64)
	samples := report.Samples(context.Background())
	labels := c.labelsOf(samples)
	for _, s := range samples {
		at := series{metric: s.Name, job: labels[s.Job]}
		if s.Unit == catalog.Seconds {
			values[at] = max(values[at], s.Value)
		} else {
			values[at] += s.Value
		}
	}
	for at, value := range values {
		var job []string
		if at.job != "" {
			job = []string{at.job}
		}
		metrics <- prometheus.MustNewConstMetric(c.reports[at.metric], prometheus.GaugeValue, value, job...)
	}
}

// labelsOf returns the labels of the jobs that a report names.
func (c *Collector) labelsOf(samples []catalog.Sample) map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	labels, reported := make(map[string]string), make(map[string]bool)
	for _, s := range samples {
		labels[s.Job], reported[s.Job] = c.places.reported(s.Job), true
	}
	c.places.keep(reported)
	return labels
}
