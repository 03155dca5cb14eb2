package live

import (
	"encoding/json"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// The events of the stream, besides "job/" and the name of a job.
const (
	EventOverview     = "overview"
	EventJobs         = "jobs"
	EventJob          = "job/" // and the name
	EventAlive        = "alive"
	EventConnected    = "connected"
	EventDisconnected = "disconnected"
)

// Status is the data of the events alive, connected and disconnected.
type Status struct {
	AsOf time.Time `json:"as_of"` // what is shown was true then
	Now  time.Time `json:"now"`   // by the clock of the server
}

// Overview is the data of the event overview. It is always whole.
type Overview struct {
	Revision registry.Revision `json:"revision"`
	AsOf     time.Time         `json:"as_of"`
	Jobs     int               `json:"jobs"`
	// Counts are the jobs by [operate.JobRow.Shown]: "OK", "DISABLED", "OVERDUE" and so on.
	Counts map[string]int `json:"counts"`
	// Needs are the jobs that need a person, the most urgent first, at most 50; NeedsMore counts the others.
	Needs     []Need `json:"needs"`
	NeedsMore int    `json:"needs_more,omitempty"`
	// Runs are the executions of the last 60 minutes, by the minute in which they began, the oldest first. The minutes
	// before the hub began to follow are missing.
	Runs []Minute `json:"runs"`
	// Upcoming are the fires of the next five minutes in 30 parts of ten seconds, the first of which begins at
	// UpcomingFrom.
	Upcoming     []int     `json:"upcoming"`
	UpcomingFrom time.Time `json:"upcoming_from"`
	// Instances are those that live; Leaders how many jobs each of them leads, the busiest first, at most 50.
	Instances  int       `json:"instances"`
	Leaders    []Leading `json:"leaders"`
	Leaderless int       `json:"leaderless"` // jobs with instances and without a leader that are not disabled
	// Outside is what was changed from outside, the newest first, at most 50; OutsideMore counts the others.
	Outside     []operate.OutsideChange `json:"outside"`
	OutsideMore int                     `json:"outside_more,omitempty"`
}

// Need is a job that needs a person, and why.
type Need struct {
	Job      string                `json:"job"`
	Word     string                `json:"word"` // the most important reason's, or "FAILING"
	Reasons  []operate.Reason      `json:"reasons"`
	Since    time.Time             `json:"since,omitzero"`     // of an overdue job
	Failures int                   `json:"failures,omitempty"` // the last executions in a row that failed, as far as seen
	Last     *operate.ExecutionRow `json:"last,omitempty"`
}

// WordFailing is the word of a job whose last executions failed.
const WordFailing = "FAILING"

// Minute counts executions.
type Minute struct {
	Minute time.Time `json:"minute"`
	Runs   int       `json:"runs"`
	Failed int       `json:"failed"` // failed, lost or interrupted
	// Uncertain tells that in a part of the minute nobody followed: there may have been more.
	Uncertain bool `json:"uncertain,omitempty"`
}

// Leading tells of how many jobs an instance is the leader.
type Leading struct {
	Instance string `json:"instance"`
	Jobs     int    `json:"jobs"`
}

// JobsFrame is the data of the event jobs.
type JobsFrame struct {
	Full     bool              `json:"full,omitempty"` // the rows are all of the window
	Revision registry.Revision `json:"revision"`
	AsOf     time.Time         `json:"as_of"`
	Rows     []json.RawMessage `json:"rows"`           // of [ListedJob]
	Gone     []string          `json:"gone,omitempty"` // names that there are not, or not any more
}

// JobFrame is the data of an event "job/J".
type JobFrame struct {
	Full     bool              `json:"full,omitempty"`
	Revision registry.Revision `json:"revision"`
	AsOf     time.Time         `json:"as_of"`
	Gone     bool              `json:"gone,omitempty"` // there is no such job, and nothing else in the frame
	// Row is there if it changed.
	Row json.RawMessage `json:"row,omitempty"` // of [ListedJob]
	// Items are those that changed; Total how many there are: forget those from there on.
	Items []json.RawMessage `json:"items,omitempty"` // of [operate.ItemRow]
	Total int               `json:"total"`
	// Instances are there, all of them, if one of them changed.
	Instances []operate.InstanceRow `json:"instances,omitzero"`
	Spans     []Span                `json:"spans,omitempty"` // that changed
	// From is the time from which on there are spans; what is older was dropped, or may be.
	From time.Time `json:"from"`
	// Gaps are there, all of them, if they changed.
	Gaps []Gap `json:"gaps,omitzero"`
	// NextFires are the next five, if they changed.
	NextFires []time.Time `json:"next_fires,omitzero"`
	// Log are the entries that are new, the oldest first.
	Log []Entry `json:"log,omitempty"`
}

// Span is an execution on a timeline. Item, Begin and Instance together name it.
type Span struct {
	Item     int       `json:"item"`
	Instance string    `json:"instance"`
	Begin    time.Time `json:"begin"`
	End      time.Time `json:"end,omitzero"` // zero while it runs
	// Outcome is "running", "success", "failure", "interrupted" or "lost"; "unknown" if it ended and nobody
	// knows how, or whether its code was ever called.
	Outcome string `json:"outcome"`
	// Cut is when its instance was seen to be gone while nobody had said yet how it ended. It does not run any more.
	Cut      time.Time  `json:"cut,omitzero"`
	Source   job.Source `json:"source,omitempty"`
	Fire     time.Time  `json:"fire,omitzero"`
	Token    int64      `json:"token,omitempty"`
	Round    string     `json:"round,omitempty"`
	Error    string     `json:"error,omitempty"`
	Failover bool       `json:"failover,omitempty"` // it runs again what was lost elsewhere
	History  bool       `json:"history,omitempty"`  // the history store told of it
}

// Gap is a time of which it is not certain what ran.
type Gap struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Item *int      `json:"item,omitempty"` // of this item alone; else of all
}

// EntryKind tells what an [Entry] is about.
type EntryKind string

// The kinds of entries.
const (
	EntryFailover  EntryKind = "failover"  // an item's lost execution runs again: From and To are instances
	EntryMisfire   EntryKind = "misfire"   // an item missed fires
	EntryLost      EntryKind = "lost"      // an execution was lost: From is its instance
	EntryMoved     EntryKind = "moved"     // an item has another owner
	EntryLeader    EntryKind = "leader"    // the job has another leader
	EntryJoined    EntryKind = "joined"    // an instance joined: To
	EntryLeft      EntryKind = "left"      // an instance left or died: From
	EntryOperation EntryKind = "operation" // an operator did something: Text says what, By who
)

// Entry is a line of a job's log, and a mark on its timeline if it is about an item.
type Entry struct {
	At    time.Time `json:"at"`
	Kind  EntryKind `json:"kind"`
	Item  *int      `json:"item,omitempty"`
	From  string    `json:"from,omitempty"`
	To    string    `json:"to,omitempty"`
	Fires int       `json:"fires,omitempty"` // that were missed; 0 if that is not known
	By    string    `json:"by,omitempty"`
	Text  string    `json:"text"` // one sentence for people
}
