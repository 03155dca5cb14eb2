package history

import (
	"time"

	"github.com/elasticron/elasticron/job"
)

// Event is an [Execution] or a [Status]: the value. A sink is not asked to know pointers; [Bus.Post] takes one for the value
// that it points to.
type Event interface{ event() }

// Execution is one run of one item. There is an event when it starts and one when it ends; the second
// repeats everything that is in the first.
type Execution struct {
	ID       string // the same at start and end, different for every run of every item
	Round    string // id of the round that it began in; empty in rows that Java wrote
	Job      string
	TaskID   string // shortened if it is longer than 255 characters
	Hostname string
	IP       string
	Source   job.Source
	Item     int
	Fire     time.Time // as in the sharding context; zero for a run by hand
	Token    int64     // fencing token; 0 for unmonitored jobs
	Start    time.Time
	Complete time.Time // zero while it runs
	Success  bool
	// FailureCause is what the item returned or panicked with, at most [MaxText] characters; empty
	// unless it failed. It begins with "interrupted" if the item was cut short, or made room.
	FailureCause string
}

// Running tells whether the execution has not ended, as far as this event knows. Of what was running in a process that was
// killed, no event tells the end.
func (e Execution) Running() bool { return e.Complete.IsZero() && !e.Success && e.FailureCause == "" }

// State tells how far a round is. The words are stored and shown.
type State string

// The states that a scheduler reports. A table that Elastic-Job-Cloud writes to has more.
const (
	Staging  State = "TASK_STAGING"  // its items are about to begin
	Running  State = "TASK_RUNNING"  // they have begun
	Finished State = "TASK_FINISHED" // all have ended and succeeded
	Errored  State = "TASK_ERROR"    // all have ended, and some did not succeed
)

// Elastic-Job's words for where a status comes from and how the job is executed. The words are stored.
const (
	SourceLite     = "LITE_EXECUTOR"
	ExecutionReady = "READY"
)

// Status is a step of a round.
type Status struct {
	ID             string // different for every step of every round
	Round          string // id of the round; empty in rows that Java wrote
	Job            string
	OriginalTaskID string // always empty but in rows of Elastic-Job-Cloud
	TaskID         string // shortened if it is longer than 255 characters
	SlaveID        string // IP of the instance
	Source         string // [SourceLite]
	ExecutionType  string // [ExecutionReady]
	ShardingItems  string // of the round: "[0, 2]", or "[0, 1, ...]" if that would be over 100 characters
	State          State
	Message        string // at most [MaxText] characters
	Time           time.Time
}

func (Execution) event() {}
func (Status) event()    {}
