// Package otel reports what a scheduler does through the OpenTelemetry API: a trace for each round,
// with a span for each item in it, and metrics.
//
//	observer, err := otel.New(otel.WithTracerProvider(tp), otel.WithMeterProvider(mp))
//	s, err := scheduler.New(reg, scheduler.WithObserver(observer))
//
// It needs the API alone. Where spans and metrics go is up to the providers that the application sets
// up, by default the global ones.
//
// # Traces
//
// A round of a job in this process is a trace of its own, with the root span "<job> round". Each
// execution is a child, "<job> item", from its begin to its end; a failed attempt that is followed by
// another is an event "retry" in it. The spans of what an item's code does become children of its span:
// the context that the code is given carries it. A span's status is Error if the execution failed or
// its end was refused. Attributes:
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
//	elasticron.execution.duration   s            {job, source, outcome}
//	elasticron.execution.lateness   s            {job}
//	elasticron.execution.active     {execution}  {job}
//	elasticron.execution.waiting    {execution}  {job}
//	elasticron.execution.retries    {attempt}    {job}
//	elasticron.job.paused           {job}        {job}
//	elasticron.view.blind           {view}       {job}, none for the list of jobs
//	elasticron.leadership.changes   {change}     {job, change}
//	elasticron.resharding.moved     {item}       {job}
//	elasticron.session.changes      {change}     {change}
//	elasticron.barrier.settled      {barrier}    {job, phase, outcome}
//	elasticron.overload.fires       {fire}       {fate}, which is wanted, begun or dropped
//	elasticron.error_handler.failures {failure}  {job}
//	elasticron.listener.failures    {failure}    {job, listener}
//
// Attributes of metrics have no items and no rounds, so the number of streams is bounded by that of
// the jobs.
package otel
