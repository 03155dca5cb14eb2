package history

import (
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/elasticron/elasticron/internal/texts"
	"github.com/elasticron/elasticron/job"
)

// ErrInvalidQuery is the error of a [Reader] if a query makes no sense: a page below 1, more than
// [MaxPerPage] rows, or an unknown sort.
var ErrInvalidQuery = errors.New("invalid query")

// The sizes of a page.
const (
	DefaultPerPage = 10
	MaxPerPage     = 1000
)

// Reader reads the events that a store has kept. Its methods are safe for concurrent use.
type Reader interface {
	// Executions returns a page of the executions that match. Errors: [ErrInvalidQuery], and those of
	// the store.
	Executions(context.Context, ExecutionQuery) (Page[Execution], error)
	// Statuses returns a page of the steps of rounds that match, with the same errors.
	Statuses(context.Context, StatusQuery) (Page[Status], error)
}

// MaxJobName is how many characters of a job's name are stored, as Java's tables have it.
const MaxJobName = 100

// TellsApart tells whether a query for a job returns the events of no other one. It does not if the name is not stored as it
// is, or a longer one would be stored alike.
func TellsApart(job string) bool {
	return utf8.RuneCountInString(job) < MaxJobName && texts.Clean(job, MaxJobName) == job
}

// Page is a part of the events that match a query.
type Page[E Event] struct {
	Rows  []E
	Total int // of all pages
}

// Paging says which part of the matching events a query returns, and in which order. The zero value is the first
// ten, the newest first.
type Paging struct {
	Page    int // from 1; 0 = 1
	PerPage int // at most MaxPerPage; 0 = DefaultPerPage
	// Sort names the field to order by, as Elastic-Job's console does: "jobName", "startTime" and so
	// on; see [ExecutionSorts] and [StatusSorts]. Empty is the time: startTime or creationTime. Events
	// that are equal in it are ordered by item, or by the states of a round, and then by id.
	Sort      string
	Ascending bool
}

// ExecutionQuery says which executions a query returns. An empty field matches all of them.
type ExecutionQuery struct {
	Job    string
	Round  string
	TaskID string // whole, or shortened as the events have it
	IP     string
	// Instance is the id of the instance, which the task id ends in.
	Instance string
	Item     *int
	Success  *bool // an execution that still runs has not succeeded
	Running  *bool // whether its end is not known
	Source   job.Source
	From     time.Time // of the start, inclusive; to the millisecond
	Until    time.Time // inclusive
	Paging
}

// StatusQuery says which steps of rounds a query returns. An empty field matches all of them.
type StatusQuery struct {
	Job           string
	Round         string
	TaskID        string // whole, or shortened as the events have it
	Source        string // [SourceLite] for those of schedulers
	ExecutionType string // [ExecutionReady] for those of schedulers
	State         State
	From          time.Time // of the step, inclusive; to the millisecond
	Until         time.Time // inclusive
	Paging
}

// ExecutionSorts lists what executions can be ordered by.
func ExecutionSorts() []string {
	return []string{
		"id", "jobName", "taskId", "hostname", "ip", "shardingItem", "executionSource", "isSuccess", "startTime", "completeTime",
		"failureCause",
	}
}

// StatusSorts lists what steps of rounds can be ordered by.
func StatusSorts() []string {
	return []string{
		"id", "jobName", "originalTaskId", "taskId", "slaveId", "source", "executionType", "shardingItem", "state", "message",
		"creationTime",
	}
}
