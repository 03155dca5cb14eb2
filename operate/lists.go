package operate

import (
	"maps"
	"slices"
	"strings"

	"github.com/elasticron/elasticron/internal/jobtree"
)

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

// Operations returns the last operations of a job, the oldest first, as [Operator.Operations] does. What cannot be read
// is left out.
func (n *Namespace) Operations(name string) []Operation {
	l := n.find(name)
	if l == nil || l.operated.Err != nil {
		return nil
	}
	return operationsOf(name, l.operated.Value)
}

// OperationsWithSecrets is [Namespace.Operations] for who may see everything.
func (n *Namespace) OperationsWithSecrets(name string) []Operation {
	l := n.find(name)
	if l == nil || l.operated.Err != nil {
		return nil
	}
	return storedOperationsOf(name, l.operated.Value)
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

// Instances returns a row for each live instance in the order of their ids, also for one that has left all its jobs and
// still runs items of them.
func (n *Namespace) Instances() []InstanceRow {
	byID := make(map[string]*InstanceRow)
	rowOf := func(id string) *InstanceRow {
		row := byID[id]
		if row == nil {
			row = &InstanceRow{Instance: id, Server: jobtree.ServerOf(id), Java: jobtree.JavaInstance(id), Jobs: []string{}}
			byID[id] = row
		}
		return row
	}
	disabled, leaving, left := make(map[string]int), make(map[string][]string), make(map[string][]string)
	for _, l := range n.jobs {
		for i := range l.parts {
			p := &l.parts[i]
			row := rowOf(p.instance)
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
		for _, s := range l.stay {
			rowOf(s.instance).Running += len(s.items)
			left[s.instance] = append(left[s.instance], l.name()+" ("+items(len(s.items), listed(s.items))+")")
		}
	}
	rows := make([]InstanceRow, 0, len(byID))
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		row := byID[id]
		row.Status, row.Reasons = statusInJobs(true, disabled[id], len(row.Jobs))
		if jobs := left[id]; len(jobs) > 0 {
			row.Reasons = append([]Reason{because(Leaving, "it has left, and still runs %s", strings.Join(jobs, ", "))}, row.Reasons...)
		}
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
	case disabled == jobs && jobs > 0:
		return Disabled, []Reason{because(DisabledServers, "the server is disabled in all its jobs")}
	case disabled > 0:
		return OK, []Reason{because(DisabledServers, "the server is disabled in %d of its %d jobs", disabled, jobs)}
	default:
		return OK, nil
	}
}
