package checker

import (
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// History is what happened to one job of a cluster. All times are of one clock.
type History struct {
	// Job is the name of the job.
	Job string
	// Runs are the calls of user code, in the order in which they began.
	Runs []Run
	// Reports are the ends of executions as observers heard of them.
	Reports []Report
	// Hooks are the calls of hooks that run once for all instances, in order.
	Hooks []Hook
	// Incidents are what was done to processes and to the store, in any order. What the registry shows
	// by itself, such as a change of settings, need not be among them.
	Incidents []Incident
	// States are those that the registry went through, every revision, the first one from an empty
	// job on.
	States []State
	// End is when the history ends. Every process has stopped or died by then, or is judged as one
	// that should be alive.
	End time.Time
}

// Run is one call of user code.
type Run struct {
	Instance string
	Context  job.ShardingContext
	Began    time.Time
	// Cancelled is when the context ended under the running code, and Cause why; zero if it did not.
	Cancelled time.Time
	Cause     error
	// Ended is when the code returned or its process died; zero if it went on beyond the history.
	Ended time.Time
	// Died tells that the code did not return, because its process was gone.
	Died bool
	Err  error // what the code returned
	// Saves are the checkpoints that the code tried to save, in order.
	Saves []Save

	attempts []Run     // the calls of one execution, once the judge has joined them
	timedOut time.Time // when the last of them was told that its time is over; zero if it was not
}

// Save is one try to save a checkpoint. No two of an item save the same text.
type Save struct {
	Offset    string
	At        time.Time // when it was sent
	Confirmed time.Time // when the code learnt that it is saved; zero if it did not
}

// Hook is one call of a hook that runs once for all instances.
type Hook struct {
	At       time.Time
	Phase    string // which hook it is
	Instance string // on which it was called
	Round    job.WholeRound
}

// Report is the end of an execution as an observer in its process heard of it.
type Report struct {
	At       time.Time
	Instance string
	Item     int
	Token    int64
	Refused  error // why the end was not recorded; nil if it was
}

// State is one state of the registry, and when it came to be.
type State struct {
	At   time.Time
	Step registry.Step
}

// Kind says what an [Incident] was.
type Kind uint8

// The kinds of incidents. Unless said otherwise they concern the process that Instance names, or all if it
// is empty.
const (
	Started   Kind = iota + 1 // the process started; a new life of its id if there was one before
	Stopped                   // it was asked to stop at From, and had done so at Until
	Crashed                   // it died without a word
	Cut                       // it could not reach the store from From until Until
	Paused                    // it stood still
	Slow                      // its requests and answers took Delay each
	Expired                   // the store dropped its session and told nobody
	Lost                      // the store did what it asked for, and the answers got lost
	Unwatched                 // its watch broke
	Down                      // the store itself was down; Instance is empty
	Held                      // a message of it was under way for so long
	Copied                    // the store may carry out once more, until then, what it asked for
	Misset                    // its clock was ahead by Ahead, which is more than clocks may be
	Denied                    // it could not follow the job, nor write to it if Writes is set
	Paced                     // the store took Rate transactions a second at most; Instance is empty
	Tampered                  // a careless hand wrote to a node, which stayed as it wrote until Until; Instance is empty
	Unlisted                  // a careless hand deleted the node of its instance
	Refused                   // it could not use the settings of the job
)

// String returns the kind in a word.
func (k Kind) String() string {
	words := [...]string{"?", "started", "stopped", "crashed", "cut off", "paused", "slow", "session dropped", "answers lost", "watch broken", "store down", "message held up", "requests copied", "clock wrong", "job denied", "store of limited capacity", "tampered with", "taken off the list", "settings refused"}
	if int(k) >= len(words) {
		k = 0
	}
	return words[k]
}

// Incident is something that was done to a process or to the store.
type Incident struct {
	Kind     Kind
	Instance string
	From     time.Time
	Until    time.Time     // zero = From
	Delay    time.Duration // of Slow
	Ahead    time.Duration // of Misset; negative if it was behind
	Writes   bool          // of Denied
	Rate     int           // of Paced
	// Path and Revision are of Tampered: to which node, and by which commit.
	Path     string
	Revision registry.Revision
}

// until returns when the incident was over.
func (i Incident) until() time.Time {
	if i.Until.IsZero() {
		return i.From
	}
	return i.Until
}
