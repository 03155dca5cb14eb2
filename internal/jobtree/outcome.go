package jobtree

// Outcome is how an execution ended.
type Outcome string

// The outcomes. An execution that has not ended has none.
const (
	Success     Outcome = "success"
	Failure     Outcome = "failure"     // it returned an error or panicked
	Interrupted Outcome = "interrupted" // it was cancelled: at a stop, or as its session was lost
	Lost        Outcome = "lost"        // its session ended and nobody heard of it again
	NotStarted  Outcome = "not started" // it was begun, but its code was never called
)
