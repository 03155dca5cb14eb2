package operate

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
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
	return r.End.Sub(r.Begin)
}

// InstanceRow is a process that takes part in jobs, over all its jobs.
type InstanceRow struct {
	Instance string   `json:"instance"`
	Server   string   `json:"server"`
	Status   Status   `json:"status"` // OK, or DISABLED if its server is in all its jobs
	Reasons  []Reason `json:"reasons,omitempty"`
	Java     bool     `json:"java"` // its id is one that Java instances give themselves
	Jobs     []string `json:"jobs"`
	Leads    []string `json:"leads,omitempty"` // the jobs in which it is the leader
	Items    int      `json:"items"`           // that it owns
	Running  int      `json:"running_items"`   // how many of them run
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

// Jobs returns a row for each job, in the order of their names.
func (n *Namespace) Jobs() []JobRow {
	rows := make([]JobRow, 0, len(n.jobs))
	for _, l := range n.jobs {
		rows = append(rows, l.row())
	}
	return rows
}

// Job returns the row of one job, and false if there is none of the name.
func (n *Namespace) Job(name string) (JobRow, bool) {
	l := n.find(name)
	if l == nil {
		return JobRow{}, false
	}
	return l.row(), true
}

// Items returns a row for each item of a job in the order of their numbers; none if there is no such job. Surplus
// items that the tree still mentions are among them.
func (n *Namespace) Items(name string) []ItemRow {
	l := n.find(name)
	if l == nil {
		return nil
	}
	return l.items()
}

// Executions returns the last two executions of each item of a job, the newest of an item first, in the order of the
// items. An execution that never called its code is not among them.
func (n *Namespace) Executions(name string) []ExecutionRow {
	l := n.find(name)
	if l == nil {
		return nil
	}
	var rows []ExecutionRow
	for number := range l.st.Items() {
		rows = append(rows, l.executions(number)...)
	}
	return rows
}

// ExecutionsOf is [Namespace.Executions] for one item of a job, whatever the number of the others.
func (n *Namespace) ExecutionsOf(name string, item int) []ExecutionRow {
	l := n.find(name)
	if l == nil || item < 0 || item >= l.st.Items() {
		return nil
	}
	return l.executions(item)
}

func (l *look) executions(item int) (rows []ExecutionRow) {
	it := l.st.Item(item)
	last := l.last(it)
	if last == nil {
		return nil
	}
	rows = append(rows, *last)
	if e := l.previous(it); e != nil && *e != *last {
		rows = append(rows, *e)
	}
	return rows
}

// Operations returns the last operations of a job, the oldest first, as [Operator.Operations] does. What cannot be read
// is left out.
func (n *Namespace) Operations(name string) []Operation {
	l := n.find(name)
	if l == nil || l.operated.Err != nil {
		return nil
	}
	return operationsOf(name, l.operated.Value)
}

// UnreadableOperations returns the jobs whose list of operations cannot be read, in order, and why.
func (n *Namespace) UnreadableOperations() (jobs []string, why map[string]error) {
	why = make(map[string]error)
	for _, l := range n.jobs {
		if l.operated.Err != nil {
			jobs = append(jobs, l.name())
			why[l.name()] = l.operated.Err
		}
	}
	return jobs, why
}

// Instances returns a row for each live instance in the order of their ids.
func (n *Namespace) Instances() []InstanceRow {
	byID := make(map[string]*InstanceRow)
	disabled, leaving := make(map[string]int), make(map[string][]string)
	for _, l := range n.jobs {
		for i := range l.parts {
			p := &l.parts[i]
			row := byID[p.instance]
			if row == nil {
				row = &InstanceRow{Instance: p.instance, Server: jobtree.ServerOf(p.instance), Java: jobtree.JavaInstance(p.instance)}
				byID[p.instance] = row
			}
			row.Jobs = append(row.Jobs, l.name())
			row.Items += p.items
			row.Running += p.running
			if p.leads {
				row.Leads = append(row.Leads, l.name())
			}
			if !p.enabled {
				disabled[p.instance]++
			}
			if p.leaving {
				leaving[p.instance] = append(leaving[p.instance], l.name())
			}
		}
	}
	rows := make([]InstanceRow, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		row := byID[id]
		row.Status, row.Reasons = statusInJobs(true, disabled[id], len(row.Jobs))
		if jobs := leaving[id]; len(jobs) > 0 {
			row.Reasons = append([]Reason{because(Leaving, "it is asked to leave %s", strings.Join(jobs, ", "))}, row.Reasons...)
		}
		rows = append(rows, *row)
	}
	return rows
}

// Servers returns a row for each server in the order of their addresses.
func (n *Namespace) Servers() []ServerRow {
	byIP, placed := make(map[string]*ServerRow), make(map[string]bool)
	for _, l := range n.jobs {
		for _, s := range l.servers {
			row := byIP[s.ip]
			if row == nil {
				row = &ServerRow{Server: s.ip}
				byIP[s.ip] = row
			}
			row.Jobs = append(row.Jobs, l.name())
			if s.disabled {
				row.Disabled = append(row.Disabled, l.name())
			}
		}
		for i := range l.parts {
			id := l.parts[i].instance
			if !placed[id] {
				placed[id] = true
				row := byIP[jobtree.ServerOf(id)]
				row.Instances = append(row.Instances, id)
			}
		}
	}
	rows := make([]ServerRow, 0, len(byIP))
	for _, ip := range slices.Sorted(maps.Keys(byIP)) {
		row := byIP[ip]
		slices.Sort(row.Instances)
		row.Status, row.Reasons = statusInJobs(len(row.Instances) > 0, len(row.Disabled), len(row.Jobs))
		rows = append(rows, *row)
	}
	return rows
}

// statusInJobs returns the status of an instance or a server, which may be disabled in some of its jobs.
func statusInJobs(lives bool, disabled, jobs int) (Status, []Reason) {
	switch {
	case !lives:
		return Crashed, []Reason{because(NoInstance, "no instance lives there")}
	case disabled == jobs:
		return Disabled, []Reason{because(DisabledServers, "the server is disabled in all its jobs")}
	case disabled > 0:
		return OK, []Reason{because(DisabledServers, "the server is disabled in %d of its %d jobs", disabled, jobs)}
	default:
		return OK, nil
	}
}

func (l *look) row() JobRow {
	c := l.st.Config.Value
	row := JobRow{
		Job: l.name(), Description: c.Description, Cron: c.Cron, TimeZone: c.TimeZone,
		Items: l.st.Total(), Instances: len(l.st.Instances), Leader: l.st.Leader.Instance, Disabled: l.disabled(),
		Next: l.next(), Recorded: c.Monitored(), Revision: l.st.Config.Revision,
	}
	if l.st.Config.Exists() && l.st.Config.Err == nil {
		row.Class, row.Type = c.ClassName(), c.Type.String()
	}
	items := l.items()
	for i := range items {
		row.count(&items[i])
	}
	row.Last = lastOf(items)
	row.Status, row.Reasons = l.status(items)
	return row
}

// lastOf returns what [JobRow.Last] is.
func lastOf(items []ItemRow) (last *ExecutionRow) {
	for i := range items {
		if e := items[i].Last; e != nil && (last == nil || e.Begin.After(last.Begin)) {
			last = e
		}
	}
	newest := last
	for i := range items {
		if e := items[i].Last; e != nil && e.together(newest) && e.badness() > last.badness() {
			last = e
		}
	}
	return last
}

// together tells whether two items began at once, or for the same fire.
func (r *ExecutionRow) together(other *ExecutionRow) bool {
	return r.Begin.Equal(other.Begin) || !r.Fire.IsZero() && r.Fire.Equal(other.Fire)
}

func (r *ExecutionRow) badness() int {
	switch r.Outcome {
	case string(jobtree.Success):
		return 0
	case OutcomeRunning:
		return 1
	default:
		return 2
	}
}

// count adds what one item says to the row of its job.
func (r *JobRow) count(it *ItemRow) {
	if it.Item >= r.Items {
		return
	}
	switch it.Status {
	case Running:
		r.RunningItems++
	case Disabled:
		r.DisabledItems++
	}
	for _, reason := range it.Reasons {
		switch reason.Word {
		case Waiting:
			r.WaitingItems++
		case Overdue:
			r.OverdueItems++
			if r.OverdueSince.IsZero() || it.OverdueSince.Before(r.OverdueSince) {
				r.OverdueSince = it.OverdueSince
			}
		}
	}
}

func (l *look) items() []ItemRow {
	rows := make([]ItemRow, 0, max(l.st.Total(), l.st.Items()))
	for number := range cap(rows) {
		rows = append(rows, l.item(number))
	}
	return rows
}

func (l *look) item(number int) ItemRow {
	it, owner := l.st.Item(number), l.st.Owner(number)
	record := it.Record.Value
	row := ItemRow{
		Job: l.name(), Item: number, Owner: owner, Server: jobtree.ServerOf(owner), Failover: it.Failover.Exists(),
		LastFire: record.LastFire, OverdueSince: l.overdueSince(it, owner), Counts: Counts(record.Counts), Last: l.last(it),
	}
	row.Status, row.Reasons = l.itemStatus(it, owner, row.OverdueSince)
	return row
}

// last returns the newest execution of an item whose code was called; nil if none is recorded.
func (l *look) last(it jobtree.Item) *ExecutionRow {
	record := it.Record.Value
	e := record.Current
	switch {
	case e == nil:
		return nil
	case e.Outcome == jobtree.NotStarted:
		return l.previous(it)
	}
	row := l.execution(it.Number, e, tokenOf(e, record, it.Record.Revision))
	return &row
}

// previous returns the execution before the record's current one; nil if none is recorded. Lists of jobs do without
// it: to read it costs as much as all the rest of an item.
func (l *look) previous(it jobtree.Item) *ExecutionRow {
	e, ok := it.Record.Value.Previous()
	if !ok {
		return nil
	}
	row := l.execution(it.Number, &e, tokenOf(&e, it.Record.Value, 0))
	return &row
}

func (l *look) execution(item int, e *jobtree.Execution, token int64) ExecutionRow {
	return ExecutionRow{
		Job: l.name(), Item: item, Instance: e.Instance, Source: e.Source, Fire: e.Fire, Begin: e.Begin, End: e.End,
		Outcome: cmp.Or(string(e.Outcome), OutcomeRunning), Token: token, Round: e.Round, Error: e.Error,
	}
}
