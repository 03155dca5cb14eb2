package operate

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// JobRow is a job as a list shows it.
type JobRow struct {
	Job         string   `json:"job"`
	Status      Status   `json:"status"`
	Reasons     []Reason `json:"reasons,omitempty"` // why it is not as it should be, the most important first
	Description string   `json:"description,omitempty"`
	Class       string   `json:"class,omitempty"`
	Type        string   `json:"type,omitempty"`
	Cron        string   `json:"cron,omitempty"`
	TimeZone    string   `json:"time_zone,omitempty"` // empty is UTC
	// Items is the sharding total count in force; the others count items below it.
	Items         int `json:"items"`
	RunningItems  int `json:"running_items"`
	WaitingItems  int `json:"waiting_items"`
	OverdueItems  int `json:"overdue_items"`
	DisabledItems int `json:"disabled_items"`
	// Instances are those that live.
	Instances int    `json:"instances"`
	Leader    string `json:"leader,omitempty"`
	// Disabled tells that the job is disabled as a whole, whatever its status: one of which no instance lives is CRASHED, and one
	// whose servers were disabled one by one is DISABLED.
	Disabled bool `json:"disabled"`
	// Next is when the job fires next, if somebody may run it and that is known.
	Next time.Time `json:"next,omitzero"`
	// OverdueSince is the oldest fire that an item should have run for and did not.
	OverdueSince time.Time `json:"overdue_since,omitzero"`
	// Recorded tells that executions are recorded. Else nothing is known of single items.
	Recorded bool `json:"recorded"`
	// Last is the execution that began last. Of those that began with it, at the same time or for the same fire, it is
	// the one that went worst: a round of which an item failed is not to look well.
	Last *ExecutionRow `json:"last,omitempty"`
	// Revision is that of the configuration.
	Revision registry.Revision `json:"revision"`
}

// Shown returns the word of a list's column of statuses: the status or, of a job that is fine in Java's words, the
// first reason why it is not.
func (r JobRow) Shown() string { return shown(r.Status, r.Reasons) }

// ItemRow is a sharding item as a list shows it.
type ItemRow struct {
	Job     string   `json:"job"`
	Item    int      `json:"item"`
	Status  Status   `json:"status"`
	Reasons []Reason `json:"reasons,omitempty"`
	// Owner is the instance to which the item is assigned, and Server its address.
	Owner  string `json:"owner,omitempty"`
	Server string `json:"server,omitempty"`
	// Failover tells that an instance has taken over a lost execution, and runs it or is about to.
	Failover bool      `json:"failover"`
	LastFire time.Time `json:"last_fire,omitzero"`
	// OverdueSince is the first fire that the item should have run for and did not.
	OverdueSince time.Time     `json:"overdue_since,omitzero"`
	Counts       Counts        `json:"counts"`
	Last         *ExecutionRow `json:"last,omitempty"` // the one that runs or, if none does, the last one
}

// Shown is as [JobRow.Shown]. An item beyond the count has no owner for good, so that the reason says more.
func (r ItemRow) Shown() string {
	if r.Status == ShardingFlag && slices.ContainsFunc(r.Reasons, func(reason Reason) bool { return reason.Word == Surplus }) {
		return string(Surplus)
	}
	return shown(r.Status, r.Reasons)
}

// Counts are numbers of an item's executions by outcome.
type Counts struct {
	Success     int64 `json:"success"`
	Failure     int64 `json:"failure"`
	Interrupted int64 `json:"interrupted"`
	Lost        int64 `json:"lost"`
}

// ExecutionRow is one execution of an item.
type ExecutionRow struct {
	Job      string     `json:"job"`
	Item     int        `json:"item"`
	Instance string     `json:"instance"`
	Source   job.Source `json:"source"`
	Fire     time.Time  `json:"fire,omitzero"` // zero for a run by hand
	Begin    time.Time  `json:"begin"`
	End      time.Time  `json:"end,omitzero"`
	// Outcome is one of package jobtree's words, or "running". A run that was cut off says "running" until somebody
	// declares it lost.
	Outcome string `json:"outcome"`
	Token   int64  `json:"token,omitempty"` // the fencing token that the code was given
	Round   string `json:"round,omitempty"` // what began together in one process has the same
	Error   string `json:"error,omitempty"`
}

// OutcomeRunning is the outcome of an execution that has not ended.
const OutcomeRunning = "running"

// Took returns how long the execution took, or has taken by now.
func (r ExecutionRow) Took(now time.Time) time.Duration {
	if r.End.IsZero() {
		return max(0, now.Sub(r.Begin))
	}
	return max(0, r.End.Sub(r.Begin))
}

// InstanceRow is a process that takes part in jobs, over all its jobs.
type InstanceRow struct {
	Instance string   `json:"instance"`
	Server   string   `json:"server"`
	Status   Status   `json:"status"` // OK, or DISABLED if its server is in all its jobs
	Reasons  []Reason `json:"reasons,omitempty"`
	Java     bool     `json:"java"`            // its id is one that Java instances give themselves
	Jobs     []string `json:"jobs"`            // in which it takes part
	Leads    []string `json:"leads,omitempty"` // the jobs in which it is the leader
	Items    int      `json:"items"`           // that it owns
	Running  int      `json:"running_items"`   // how many run there, whoever owns them by now
}

// Shown is as [JobRow.Shown].
func (r InstanceRow) Shown() string { return shown(r.Status, r.Reasons) }

// ServerRow is a server, over all jobs that it has a part in: an instance lives there, or an operator said something
// of it. Java has no status of a server as a whole, and shows the lists.
type ServerRow struct {
	Server    string   `json:"server"`
	Status    Status   `json:"status"`
	Reasons   []Reason `json:"reasons,omitempty"`
	Instances []string `json:"instances,omitempty"` // that live
	Jobs      []string `json:"jobs"`
	Disabled  []string `json:"disabled_jobs,omitempty"` // the jobs for which it is disabled
}

// Shown is as [JobRow.Shown].
func (r ServerRow) Shown() string { return shown(r.Status, r.Reasons) }
