// Package prometheus exports the work of a scheduler as Prometheus metrics.
//
//	collector, err := prometheus.New()
//	registerer.MustRegister(collector)
//	s, err := scheduler.New(reg, scheduler.WithObserver(collector))
//
// A [Collector] belongs to one process, and counts what happened in this process. Prometheus adds the labels of
// the scrape, so the metrics are statistics per server. Sum over the servers for the cluster.
//
//	elasticron_executions_total{job,source,outcome}      executions of items that ended; outcome is
//	                                                     success, failure or refused (taken away
//	                                                     before its end could be recorded)
//	elasticron_executions_running{job}                   executions that have begun and not ended
//	elasticron_executions_waiting{job}                   the running ones that still wait for their turn
//	elasticron_execution_duration_seconds{job}           from begin to end, waits included
//	elasticron_execution_lateness_seconds{job}           from the fire to the begin, of scheduled and
//	                                                     missed fires
//	elasticron_execution_retries_total{job}              attempts that failed and were followed by another
//	elasticron_round_duration_seconds{job}               from the begin of a round here to its last end
//	elasticron_leader{job}                               1 while this process leads the job
//	elasticron_job_paused{job}                           1 while its configuration is gone, or cannot be read
//	                                                     or used here
//	elasticron_view_blind{job}                           1 while the job's tree cannot be followed here, so
//	                                                     that nothing of it begins; no job for the list of
//	                                                     jobs that processes with handlers follow
//	elasticron_elections_total{job}                      leaderships gained
//	elasticron_reshardings_total{job}                    assignments made as the leader
//	elasticron_items_moved_total{job}                    items whose owner these assignments changed
//	elasticron_session_connected                         1 while the session with the registry is in order
//	elasticron_session_changes_total{change}             established, suspended, back, lost
//	elasticron_overloaded                                1 while fires are missed because more are due than
//	                                                     can begin in time
//	elasticron_overload_fires_total{fate}                fires during overloads: wanted, begun, dropped
//	elasticron_barriers_total{job,phase,outcome}         barriers of whole rounds that were settled here
//	elasticron_error_handler_failures_total{job}         failures of the job's error handler
//	elasticron_listener_failures_total{job,listener}     listeners that failed; no job for listeners of the process
//
// With [WithItems], for each item:
//
//	elasticron_item_executions_total{job,item,outcome}
//	elasticron_item_last_begin_timestamp_seconds{job,item}
//	elasticron_item_last_end_timestamp_seconds{job,item}
//	elasticron_item_last_duration_seconds{job,item}
//
// # Labels are bounded
//
// Jobs beyond [WithMaxJobs] and items beyond [WithItems] share the label "other". So jobs that are declared at
// run time cannot make the number of series grow without limit.
package prometheus
