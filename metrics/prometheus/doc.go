// Package prometheus exports the work of a scheduler as Prometheus metrics.
//
//	collector, err := prometheus.New()
//	registerer.MustRegister(collector)
//	s, err := scheduler.New(reg, scheduler.WithObserver(collector))
//
// A [Collector] belongs to one process. It counts what happened in this process, and asks the scheduler for its
// health report whenever somebody collects. Prometheus adds the labels of the scrape, so counters are statistics
// per server: sum over the servers for the cluster. What is reported of the items of a job, such as how many are
// overdue, is about the whole job, and every server says the same of it: take the maximum.
//
// docs/metrics.md lists the metrics and their labels. These say most:
//
//	elasticron_items_overdue{job_name}               items that should have run and did not
//	elasticron_items_failed{job_name}                items whose last execution did not succeed
//	elasticron_executions_total{job_name,source,outcome}
//	                                                 executions that ended here
//	elasticron_execution_lateness_seconds{job_name}  from the fire to the begin
//	elasticron_session_held                          1 while there is a session with the registry
//
// # Labels are bounded
//
// Jobs beyond [WithMaxJobs] and items beyond [WithItems] share the label "other". So jobs that are declared at
// run time cannot make the number of series grow without limit. The series of a job that this process has left go, and
// its place is free for a job that comes later.
package prometheus
