package catalog

import "github.com/elasticron/elasticron/scheduler"

// The outcomes of executions. What was cut short, or made room as it was told to, has the word of its record: a rolling update
// is no series of failures.
const (
	Success     = "success"
	Failure     = "failure"
	Interrupted = "interrupted"
	Refused     = "refused"
)

// OutcomeOf returns the outcome of an execution that has ended.
func OutcomeOf(e scheduler.ItemEvent) string {
	switch {
	case e.Refused != nil:
		return Refused
	case e.Err == nil:
		return Success
	case e.CutShort:
		return Interrupted
	default:
		return Failure
	}
}
