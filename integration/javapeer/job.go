package javapeer

import (
	"fmt"
	"time"
)

// Class is the class of all simple jobs of a peer.
const Class = "io.github.elasticron.javapeer.PeerJob"

// Job is a job as a Java application declares it, with what it sets in the library's builders. The
// fields that are not here have the builders' defaults.
type Job struct {
	Name           string `json:"name"`
	Cron           string `json:"cron"`
	Total          int    `json:"total"`
	ItemParameters string `json:"itemParameters"`
	JobParameter   string `json:"jobParameter"`
	Strategy       string `json:"strategy"`         // class name
	Script         string `json:"script,omitempty"` // makes it a script job
	Failover       bool   `json:"failover"`
	Misfire        bool   `json:"misfire"`
	Monitor        bool   `json:"monitorExecution"`
	Disabled       bool   `json:"disabled"`
	Overwrite      bool   `json:"overwrite"`
}

// NewJob returns a job with the builders' defaults.
func NewJob(name, cron string, total int) Job {
	return Job{Name: name, Cron: cron, Total: total, Misfire: true, Monitor: true}
}

// UntilTold is the duration of executions that go on until the test sets another.
const UntilTold time.Duration = -1

// Belief is what a Java instance takes to be so of a job.
type Belief struct {
	Instance string `json:"instance"` // its id
	Shutdown bool   `json:"shutdown"` // the job has stopped in that process; then the rest is empty
	Leader   bool   `json:"leader"`
	Items    []int  `json:"items"`  // those that it owns
	Config   string `json:"config"` // as the library read it and would write it
}

// Event is something that happened in a Java process.
type Event struct {
	Kind          string `json:"event"` // EventReady, EventBegin or EventEnd
	Job           string `json:"job"`
	Item          int    `json:"item"`
	Task          string `json:"task"`
	Total         int    `json:"total"`
	ItemParameter string `json:"itemParameter"`
	JobParameter  string `json:"jobParameter"`
	Millis        int64  `json:"time"` // since 1970
}

// The kinds of events.
const (
	EventReady = "ready" // the process takes requests
	EventBegin = "begin" // an item began to run
	EventEnd   = "end"   // and ended
)

// String names the event for messages.
func (e Event) String() string {
	return fmt.Sprintf("%s %d at %s", e.Kind, e.Item, e.Time().Format("05.000"))
}

// Time is when it happened.
func (e Event) Time() time.Time { return time.UnixMilli(e.Millis) }
