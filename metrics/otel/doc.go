// Package otel reports the work of a scheduler through the OpenTelemetry API: a trace for each round,
// with a span for each of its items, and metrics.
//
//	observer, err := otel.New(otel.WithTracerProvider(tp), otel.WithMeterProvider(mp))
//	s, err := scheduler.New(reg, scheduler.WithObserver(observer))
//
// It needs only the API. The application sets up the providers, which decide where spans and metrics go; by
// default these are the global providers.
//
// # Traces
//
// A round of a job in this process is a trace of its own, with the root span "<job> round". Each
// execution is a child, "<job> item", from its begin to its end. If an attempt fails and another follows, the
// span gets an event "retry". Spans that an item's code starts become children of the item's span, because the
// context that the code receives carries it. A span's status is Error if the execution failed or
// its end was refused. One that was cut short, or made room, gets an event "interrupted", and is no error of its round either.
// Attributes:
//
//	elasticron.job           name of the job
//	elasticron.round         id of the round, as in records and logs
//	elasticron.item          number of the sharding item
//	elasticron.source        scheduled, misfire, failover or manual
//	elasticron.fire          the fire, RFC 3339; not for a run by hand
//	elasticron.token         fencing token of the execution
//
// # Metrics
//
// docs/metrics.md lists them. They are those of package metrics/prometheus, under names with dots in place of
// underscores and without units, such as elasticron.execution.lateness; their attributes are elasticron.job,
// elasticron.source and so on. Some are counted as things happen, and some ask the scheduler for its health report
// when the meter collects, which takes two seconds at most. Schedulers that run at the same time need one MeterProvider each,
// whose resource tells them apart: in a common one, gauges of the same name take each other's place.
//
// The histograms have the buckets of package metrics/prometheus, unless a view of the MeterProvider says otherwise. The alert
// rules and the dashboard of this project are written for that package: docs/alerts.md tells which of them stand on buckets,
// and how to give labels the names that they want, as attributes have others.
//
// The attributes of metrics name no items and no rounds, so the number of jobs bounds the number of streams. Those of a
// job that this process has left stay, with 0 for how things are, since the API cannot end them.
package otel
