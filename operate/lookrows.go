package operate

import (
	"cmp"

	"github.com/elasticron/elasticron/internal/jobtree"
)

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
	row := l.execution(it.Number, e, record.GivenToken(e, it.Record.Revision))
	return &row
}

// previous returns the execution before the record's current one; nil if none is recorded. Lists of jobs do without
// it: to read it costs as much as all the rest of an item.
func (l *look) previous(it jobtree.Item) *ExecutionRow {
	e, ok := it.Record.Value.Previous()
	if !ok {
		return nil
	}
	row := l.execution(it.Number, &e, it.Record.Value.GivenToken(&e, 0))
	return &row
}

func (l *look) execution(item int, e *jobtree.Execution, token int64) ExecutionRow {
	return ExecutionRow{
		Job: l.name(), Item: item, Instance: e.Instance, Source: e.Source, Fire: e.Fire, Begin: e.Begin, End: e.End,
		Outcome: cmp.Or(string(e.Outcome), OutcomeRunning), Token: token, Round: e.Round, Error: e.Error,
	}
}
