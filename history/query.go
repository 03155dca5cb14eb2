package history

import (
	"context"
	"errors"
	"time"

	"github.com/elasticron/elasticron/job"
)

// ErrInvalidQuery is what a [Reader] says of a query that it cannot mean: a page below 1, more than
// [MaxPerPage] rows, or a sort that is not listed.
var ErrInvalidQuery = errors.New("invalid query")

// The paging of queries.
const (
	DefaultPerPage = 10
	MaxPerPage     = 1000
)

// Reader answers what happened. Its methods are safe for concurrent use.
type Reader interface {
	// Executions returns a page of the executions that match. Errors: [ErrInvalidQuery], and those of
	// the store.
	Executions(context.Context, ExecutionQuery) (Page[Execution], error)
	// Statuses returns a page of the steps of rounds that match, with the same errors.
	Statuses(context.Context, StatusQuery) (Page[Status], error)
}

// Page is a part of what matches a query.
type Page[E Event] struct {
	Rows  []E
	Total int // of all pages
}

// Paging says which part of what matches is wanted, and in which order. The zero value is the first
// ten, the newest first.
type Paging struct {
	Page    int // from 1; 0 = 1
	PerPage int // at most MaxPerPage; 0 = DefaultPerPage
	// Sort names the field to order by, as Elastic-Job's console does: "jobName", "startTime" and so
	// on; see [ExecutionSorts] and [StatusSorts]. Empty is the time: startTime or creationTime. Equal
	// ones are ordered by item, or by what a round goes through, and then by id.
	Sort      string
	Ascending bool
}

// ExecutionQuery says which executions are wanted. What is empty does not matter.
type ExecutionQuery struct {
	Job     string
	Round   string
	TaskID  string // as it is stored: see [ShortTaskID]
	IP      string
	Item    *int
	Success *bool // whether it succeeded; one that runs has not
	Source  job.Source
	From    time.Time // of the start, inclusive; to the millisecond
	Until   time.Time // inclusive
	Paging
}

// StatusQuery says which steps of rounds are wanted. What is empty does not matter.
type StatusQuery struct {
	Job           string
	Round         string
	TaskID        string // as it is stored: see [ShortTaskID]
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
