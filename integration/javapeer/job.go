package javapeer

import (
	"fmt"
	"time"
)

// The classes of a peer's jobs.
const (
	Class         = "io.github.elasticron.javapeer.PeerJob"      // of all simple ones
	DataflowClass = "io.github.elasticron.javapeer.PeerDataflow" // of all dataflow ones, see [Peer.Feed]
)

// Job is a job as a Java application declares it, with what it sets in the library's builders. The
// fields that are not here have the builders' defaults.
type Job struct {
	Name           string `json:"name"`
	Cron           string `json:"cron"`
	Total          int    `json:"total"`
	ItemParameters string `json:"itemParameters"`
	JobParameter   string `json:"jobParameter"`
	Strategy       string `json:"strategy"`         // class name; of [ElasticJob3], the strategy's type
	Script         string `json:"script,omitempty"` // makes it a script job
	Failover       bool   `json:"failover"`
	Misfire        bool   `json:"misfire"`
	Monitor        bool   `json:"monitorExecution"`
	Disabled       bool   `json:"disabled"`
	Overwrite      bool   `json:"overwrite"`

	// The rest is for [ElasticJob3] alone. A job without cron is run once by each [Peer.Execute].

	Type             string            `json:"type,omitempty"` // TypeDataflow, TypeScript or TypeHTTP; empty is a simple job
	TimeZone         string            `json:"timeZone,omitempty"`
	StaticSharding   bool              `json:"staticSharding,omitempty"`
	ReconcileMinutes *int              `json:"reconcileMinutes,omitempty"` // nil is the builder's default
	Executor         string            `json:"executor,omitempty"`         // type of the executor service handler
	ErrorHandler     string            `json:"errorHandler,omitempty"`     // its type
	Description      string            `json:"description,omitempty"`
	Label            string            `json:"label,omitempty"`
	Listeners        []string          `json:"listeners,omitempty"` // ListenerEach, ListenerOnce
	Props            map[string]string `json:"props,omitempty"`
}

// The types of jobs of [ElasticJob3].
const (
	TypeDataflow = "DATAFLOW"
	TypeScript   = "SCRIPT"
	TypeHTTP     = "HTTP"
)

// The listeners that a process of [ElasticJob3] has.
const (
	ListenerEach = "PEER"      // tells EventBefore and EventAfter of each round of an instance
	ListenerOnce = "PEER_ONCE" // tells EventBeforeOnce and EventAfterOnce, once in the cluster
)

// needs3 tells whether the job sets what [Lite2] does not have.
func (j Job) needs3() bool {
	return j.Type != "" || j.TimeZone != "" || j.StaticSharding || j.ReconcileMinutes != nil || j.Executor != "" ||
		j.ErrorHandler != "" || j.Description != "" || j.Label != "" || len(j.Listeners) > 0 || len(j.Props) > 0
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
	Kind          string `json:"event"` // EventBegin or another of the kinds
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

	EventFetch = "fetch" // a dataflow job asked for data

	// What listeners tell. These have no item.
	EventBefore     = "before"
	EventAfter      = "after"
	EventBeforeOnce = "before-once"
	EventAfterOnce  = "after-once"
)

// String names the event for messages.
func (e Event) String() string {
	return fmt.Sprintf("%s %d at %s", e.Kind, e.Item, e.Time().Format("05.000"))
}

// Time is when it happened.
func (e Event) Time() time.Time { return time.UnixMilli(e.Millis) }
