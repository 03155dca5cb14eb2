package otel

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// instruments are the metrics. Names, units and attributes are what operators build upon.
type instruments struct {
	duration, lateness                                       metric.Float64Histogram
	active, waiting, paused, blind                           metric.Int64UpDownCounter
	retries, leadership, moved, session, barriers, listeners metric.Int64Counter
	handlers, load                                           metric.Int64Counter
}

func newInstruments(m metric.Meter) (instruments, error) {
	var i instruments
	var faults []error
	histogram := func(name, help string) metric.Float64Histogram {
		h, err := m.Float64Histogram(name, metric.WithDescription(help), metric.WithUnit("s"))
		faults = append(faults, err)
		return h
	}
	counter := func(name, unit, help string) metric.Int64Counter {
		c, err := m.Int64Counter(name, metric.WithDescription(help), metric.WithUnit(unit))
		faults = append(faults, err)
		return c
	}
	i.duration = histogram("elasticron.execution.duration", "Time from begin to end of an execution.")
	i.lateness = histogram("elasticron.execution.lateness", "Time from the fire to the begin of an execution.")
	level := func(name, unit, help string) metric.Int64UpDownCounter {
		c, err := m.Int64UpDownCounter(name, metric.WithDescription(help), metric.WithUnit(unit))
		faults = append(faults, err)
		return c
	}
	i.active = level("elasticron.execution.active", "{execution}", "Executions that have begun and not ended.")
	i.waiting = level("elasticron.execution.waiting", "{execution}", "Executions that have begun and wait for their turn.")
	i.paused = level("elasticron.job.paused", "{job}", "Jobs that pause here, because their configuration is gone or cannot be read or used.")
	i.blind = level("elasticron.view.blind", "{view}", "Jobs whose tree cannot be followed here, so that nothing of them begins; no job for the list of jobs.")
	i.retries = counter("elasticron.execution.retries", "{attempt}", "Attempts that failed and were followed by another.")
	i.leadership = counter("elasticron.leadership.changes", "{change}", "Leaderships gained and lost.")
	i.moved = counter("elasticron.resharding.moved", "{item}", "Items whose owner this process changed as the leader.")
	i.session = counter("elasticron.session.changes", "{change}", "Changes of the session with the registry.")
	i.barriers = counter("elasticron.barrier.settled", "{barrier}", "Barriers of whole rounds that this process settled.")
	i.listeners = counter("elasticron.listener.failures", "{failure}", "Listeners that failed, panicked or took too long.")
	i.handlers = counter("elasticron.error_handler.failures", "{failure}", "Errors of items that the job's error handler could not deal with.")
	i.load = counter("elasticron.overload.fires", "{fire}", "Fires during overloads: wanted, begun, and dropped because they could not begin in time.")
	return i, errors.Join(faults...)
}
