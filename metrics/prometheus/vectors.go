package prometheus

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/elasticron/elasticron/metrics/internal/catalog"
)

// vectors are the metrics that events change.
type vectors struct {
	executions, retries, elections, reshardings, moved *prometheus.CounterVec
	changes, barriers, failures, handlers, load        *prometheus.CounterVec
	running, waiting, leader, connected, paused        *prometheus.GaugeVec
	blind, overloaded                                  *prometheus.GaugeVec
	duration, lateness, round                          *prometheus.HistogramVec

	itemExecutions                   *prometheus.CounterVec
	itemBegin, itemEnd, itemDuration *prometheus.GaugeVec

	all []vector
}

// vector is any of them.
type vector interface {
	prometheus.Collector
	DeletePartialMatch(labels prometheus.Labels) int
}

// forget takes the series of a job away.
func (v vectors) forget(job string) {
	for _, one := range v.all {
		one.DeletePartialMatch(prometheus.Labels{catalog.Job.Prometheus(): job})
	}
}

func newVectors(o options) vectors {
	var v vectors
	counter := func(m catalog.Metric) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Prometheus(), Help: m.Help}, labelsOf(m))
		v.all = append(v.all, c)
		return c
	}
	gauge := func(m catalog.Metric) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Prometheus(), Help: m.Help}, labelsOf(m))
		v.all = append(v.all, g)
		return g
	}
	histogram := func(m catalog.Metric) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: m.Prometheus(), Help: m.Help, Buckets: o.buckets}, labelsOf(m))
		v.all = append(v.all, h)
		return h
	}
	v.executions = counter(catalog.Executions)
	v.running = gauge(catalog.ExecutionsRunning)
	v.waiting = gauge(catalog.ExecutionsWaiting)
	v.duration = histogram(catalog.Duration)
	v.lateness = histogram(catalog.Lateness)
	v.retries = counter(catalog.Retries)
	v.round = histogram(catalog.RoundDuration)
	v.leader = gauge(catalog.Leader)
	v.paused = gauge(catalog.Paused)
	v.blind = gauge(catalog.Blind)
	v.elections = counter(catalog.Elections)
	v.reshardings = counter(catalog.Reshardings)
	v.moved = counter(catalog.ItemsMoved)
	v.connected = gauge(catalog.SessionConnected)
	v.changes = counter(catalog.SessionChanges)
	v.overloaded = gauge(catalog.Overloaded)
	v.load = counter(catalog.OverloadFires)
	v.barriers = counter(catalog.Barriers)
	v.failures = counter(catalog.ListenerFailures)
	v.handlers = counter(catalog.ErrorHandlerFailures)
	if o.items > 0 {
		v.itemExecutions = counter(catalog.ItemExecutions)
		v.itemBegin = gauge(catalog.ItemLastBegin)
		v.itemEnd = gauge(catalog.ItemLastEnd)
		v.itemDuration = gauge(catalog.ItemDuration)
	}
	v.connected.WithLabelValues() // there from the start, as 0
	v.overloaded.WithLabelValues()
	return v
}

func labelsOf(m catalog.Metric) (names []string) {
	for _, l := range m.Labels {
		names = append(names, l.Prometheus())
	}
	return names
}
