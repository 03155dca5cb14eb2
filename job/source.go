package job

// Source says why an item runs. The words are stored and shown.
type Source string

// The sources of an execution.
const (
	Scheduled Source = "scheduled" // a fire of the job's cron expression
	Misfire   Source = "misfire"   // one or more fires that could not be run on time
	Failover  Source = "failover"  // the execution of this fire before was lost
	Manual    Source = "manual"    // somebody asked for it
)

// Trace returns the word by which Elastic-Job's event traces and their tables know the source:
// NORMAL_TRIGGER, MISFIRE or FAILOVER. Java calls a run by hand a normal one.
func (s Source) Trace() string {
	switch s {
	case Misfire:
		return "MISFIRE"
	case Failover:
		return "FAILOVER"
	default:
		return "NORMAL_TRIGGER"
	}
}
