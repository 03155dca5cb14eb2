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
// The attributes of metrics name no items and no rounds, so the number of jobs bounds the number of streams.
package otel
