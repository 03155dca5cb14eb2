package prometheus

import "github.com/prometheus/client_golang/prometheus"

// vectors are the metrics. Names and labels are what operators build upon.
type vectors struct {
	executions, retries, elections, reshardings, moved *prometheus.CounterVec
	changes, barriers, failures, handlers, load        *prometheus.CounterVec
	running, waiting, leader, connected, paused        *prometheus.GaugeVec
	blind, overloaded                                  *prometheus.GaugeVec
	duration, lateness, round                          *prometheus.HistogramVec

	itemExecutions                   *prometheus.CounterVec
	itemBegin, itemEnd, itemDuration *prometheus.GaugeVec

	all []prometheus.Collector
}

func newVectors(o options) vectors {
	var v vectors
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "elasticron", Name: name, Help: help}, labels)
		v.all = append(v.all, c)
		return c
	}
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "elasticron", Name: name, Help: help}, labels)
		v.all = append(v.all, g)
		return g
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: "elasticron", Name: name, Help: help, Buckets: o.buckets,
		}, labels)
		v.all = append(v.all, h)
		return h
	}
	v.executions = counter("executions_total", "Executions of items that ended.", "job", "source", "outcome")
	v.running = gauge("executions_running", "Executions of items that have begun and not ended.", "job")
	v.waiting = gauge("executions_waiting", "Executions that have begun and wait for their turn.", "job")
	v.duration = histogram("execution_duration_seconds", "Time from begin to end of an execution.", "job")
	v.lateness = histogram("execution_lateness_seconds", "Time from the fire to the begin of an execution.", "job")
	v.retries = counter("execution_retries_total", "Attempts that failed and were followed by another.", "job")
	v.round = histogram("round_duration_seconds", "Time from the begin of a round to its last end.", "job")
	v.leader = gauge("leader", "1 while this process leads the job.", "job")
	v.paused = gauge("job_paused", "1 while the job pauses here, because its configuration is gone or cannot be read or used.", "job")
	v.blind = gauge("view_blind", "1 while the tree of the job cannot be followed here, so that nothing of it begins; no job for the list of jobs.", "job")
	v.elections = counter("elections_total", "Leaderships gained.", "job")
	v.reshardings = counter("reshardings_total", "Assignments made as the leader.", "job")
	v.moved = counter("items_moved_total", "Items that changed their owner by those assignments.", "job")
	v.connected = gauge("session_connected", "1 while the session with the registry is in order.")
	v.changes = counter("session_changes_total", "Changes of the session with the registry.", "change")
	v.overloaded = gauge("overloaded", "1 while fires go by that could not begin in time, because more is wanted than can begin.")
	v.load = counter("overload_fires_total", "Fires during overloads: wanted, begun, and dropped because they could not begin in time.", "fate")
	v.barriers = counter("barriers_total", "Barriers of whole rounds that were settled by this process.", "job", "phase", "outcome")
	v.failures = counter("listener_failures_total", "Listeners that failed, panicked or took too long.", "job", "listener")
	v.handlers = counter("error_handler_failures_total", "Errors of items that the job's error handler could not deal with.", "job")
	if o.items > 0 {
		v.itemExecutions = counter("item_executions_total", "Executions of the item that ended.", "job", "item", "outcome")
		v.itemBegin = gauge("item_last_begin_timestamp_seconds", "When the item last began here.", "job", "item")
		v.itemEnd = gauge("item_last_end_timestamp_seconds", "When the item last ended here.", "job", "item")
		v.itemDuration = gauge("item_last_duration_seconds", "How long the item last took here.", "job", "item")
	}
	v.connected.WithLabelValues() // there from the start, as 0
	v.overloaded.WithLabelValues()
	return v
}
