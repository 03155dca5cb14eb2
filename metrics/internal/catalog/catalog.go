package catalog

// What happens, as events tell.
var (
	Executions = metric("executions", Counter, "{execution}",
		"Executions of items that ended; interrupted are those that were cut short or made room, and refused those that were taken away "+
			"before their end could be recorded.", Job, Source, Outcome)
	ExecutionsRunning = metric("executions.running", Gauge, "{execution}",
		"Executions whose code was called and that have not ended; those that wait, for whatever, are not among them.", Job)
	ExecutionsWaiting = metric("executions.waiting", Gauge, "{execution}",
		"Executions that have begun and wait for their turn; not those that wait for AllStarted of their round, or for their fire.", Job)
	Duration      = metric("execution.duration", Histogram, Seconds, "Time from begin to end of an execution, waits included.", Job)
	Lateness      = metric("execution.lateness", Histogram, Seconds, "Time from the fire to the begin, of scheduled and missed fires.", Job)
	Retries       = metric("execution.retries", Counter, "{attempt}", "Attempts that failed and were followed by another.", Job)
	RoundDuration = metric("round.duration", Histogram, Seconds, "Time from the begin of a round here to its last end.", Job)
	Leader        = metric("leader", Gauge, "{leader}", "1 while this process leads the job.", Job)
	Elections     = metric("elections", Counter, "{election}", "Leaderships gained.", Job)
	Reshardings   = metric("reshardings", Counter, "{resharding}", "Assignments made as the leader.", Job)
	ItemsMoved    = metric("items.moved", Counter, "{item}", "Items whose owner these assignments changed.", Job)
	Paused        = metric("job.paused", Gauge, "{job}",
		"1 while the job pauses here, because its configuration is gone or cannot be read or used.", Job)
	Blind = metric("view.blind", Gauge, "{view}",
		"1 while the tree of the job cannot be followed here, so that nothing of it begins; no job for the list of jobs.", Job)
	SessionConnected     = metric("session.connected", Gauge, "{session}", "1 while the session with the registry is in order.")
	SessionChanges       = metric("session.changes", Counter, "{change}", "Changes of the session: established, suspended, back, lost.", Change)
	Overloaded           = metric("overloaded", Gauge, "{scheduler}", "1 while fires go by because more are due than can begin in time.")
	OverloadFires        = metric("overload.fires", Counter, "{fire}", "Fires during overloads: wanted, begun, dropped.", Fate)
	Barriers             = metric("barriers", Counter, "{barrier}", "Barriers of whole rounds that were settled here.", Job, Phase, Outcome)
	ErrorHandlerFailures = metric("error_handler.failures", Counter, "{failure}", "Failures of the job's error handler.", Job)
	ListenerFailures     = metric("listener.failures", Counter, "{failure}",
		"Listeners that failed, panicked or took too long; no job for listeners of the process.", Job, Listener)
)

// How things are, as health reports tell.
var (
	Running     = report("running", "{scheduler}", "1 from Run until it is told to stop.")
	SessionHeld = report("session.held", "{session}",
		"1 while there is a session with the registry, be it in doubt; only while running, like all that follow.")
	Unanswered = report("job.unanswered", "{job}",
		"1 if the job's runner did not answer within two seconds; then what follows is missing.", Job)
	NotJoined = report("job.not_joined", "{job}", "1 while this process should take part in the job and does not.", Job)
	ClockOff  = report("job.clock_off", "{job}",
		"1 while this process stays out of the job, or would, because its clock is too far off the registry's.", Job)
	Disabled    = report("job.disabled", "{job}", "1 while nobody may run anything of the job, because somebody wants it so.", Job)
	Leaderless  = report("job.leaderless", "{job}", "1 while nobody leads the job, unless it is disabled or pauses.", Job)
	Stuck       = report("job.stuck", "{job}", "1 while items should be spread anew and stay where they are.", Job)
	Instances   = report("job.instances", "{instance}", "Instances of the job that live.", Job)
	Items       = report("items", "{item}", "The job's sharding total count.", Job)
	Overdue     = report("items.overdue", "{item}", "Items that should have run and neither did nor do.", Job)
	Waiting     = report("items.waiting", "{item}", "Items whose execution was lost and waits to be run again, unless the job is disabled.", Job)
	Unowned     = report("items.unowned", "{item}", "Items that no live instance owns, unless the job is disabled or pauses.", Job)
	Failed      = report("items.failed", "{item}", "Items whose last execution did not succeed and is not run again.", Job)
	LastSuccess = report("job.last_success.timestamp", Seconds, "When an item of the job succeeded last; missing if none is recorded.", Job)
)

// What is counted of single items.
var (
	ItemExecutions = metric("item.executions", Counter, "{execution}", "Executions of the item here that ended.", Job, Item, Outcome)
	ItemLastBegin  = metric("item.last_begin.timestamp", Gauge, Seconds, "When the item last began here.", Job, Item)
	ItemLastEnd    = metric("item.last_end.timestamp", Gauge, Seconds, "When the item last ended here.", Job, Item)
	ItemDuration   = metric("item.last_duration", Gauge, Seconds, "How long the item last took here.", Job, Item)
)

// Reported returns those that health reports tell.
func Reported() (metrics []Metric) {
	for _, m := range all {
		if m.reported {
			metrics = append(metrics, m)
		}
	}
	return metrics
}

// all are the metrics, in the order in which they stand above.
var all []Metric

func metric(name string, kind Kind, unit, help string, labels ...Label) Metric {
	m := Metric{Name: name, Kind: kind, Unit: unit, Labels: labels, Help: help}
	all = append(all, m)
	return m
}

// report is metric for a gauge that health reports tell.
func report(name, unit, help string, labels ...Label) Metric {
	m := Metric{Name: name, Kind: Gauge, Unit: unit, Labels: labels, Help: help, reported: true}
	all = append(all, m)
	return m
}
