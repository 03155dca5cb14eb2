package operate

import (
	"time"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
)

// lastRun is the newest execution of an item whose code was called. A job's lie side by side, so that those of thousands of
// jobs are looked through without a look at their trees.
type lastRun struct {
	begin   time.Time
	token   int64
	e       *jobtree.Execution
	item    int32
	source  sources
	outcome outcomes
}

// outcomes are a set of outcomes, as far as lists tell them apart.
type outcomes uint8

const (
	stillRuns outcomes = 1 << iota
	succeeded
	endedOtherwise
	anyOutcome = stillRuns | succeeded | endedOtherwise
)

func outcomeOf(e *jobtree.Execution) outcomes {
	switch e.Outcome {
	case "":
		return stillRuns
	case jobtree.Success:
		return succeeded
	default:
		return endedOtherwise
	}
}

// sources are a set of sources.
type sources uint8

// otherSource stands for all that this version does not know.
const otherSource sources = 1 << 7

func sourceOf(s job.Source) sources {
	switch s {
	case job.Scheduled:
		return 1
	case job.Misfire:
		return 1 << 1
	case job.Failover:
		return 1 << 2
	case job.Manual:
		return 1 << 3
	default:
		return otherSource
	}
}

// lastRuns are what of a job's executions lists of all jobs look at.
type lastRuns struct {
	all           []lastRun // in the order of the items
	sources       sources
	outcomes      outcomes
	first, latest time.Time // of their begins
}

// lastRunsOf returns those of a job.
func lastRunsOf(st *jobtree.State) (l lastRuns) {
	for item := range st.Items() {
		it := st.Item(item)
		record := it.Record.Value
		e := record.Current
		if e == nil {
			continue
		}
		r := lastRun{item: int32(item), e: e, token: tokenOf(e, record, it.Record.Revision)}
		if e.Outcome == jobtree.NotStarted {
			before, is := record.Previous()
			if !is {
				continue
			}
			r.e, r.token = &before, tokenOf(&before, record, 0)
		}
		r.begin, r.source, r.outcome = r.e.Begin, sourceOf(r.e.Source), outcomeOf(r.e)
		l.sources |= r.source
		l.outcomes |= r.outcome
		if len(l.all) == 0 || r.begin.Before(l.first) {
			l.first = r.begin
		}
		if len(l.all) == 0 || r.begin.After(l.latest) {
			l.latest = r.begin
		}
		l.all = append(l.all, r)
	}
	return l
}

// ExecutionFilter says which executions a list has. The zero value is for all.
type ExecutionFilter struct {
	Source job.Source // empty: any
	// Success and Running tell whether it has ended well and whether it still runs; nil: either.
	Success, Running *bool
	// Wanted tells of each of these whether it is wanted; nil: it is. It must not keep the row.
	Wanted func(*ExecutionRow) bool
}

// outcomes are those that the filter wants.
func (f *ExecutionFilter) outcomes() outcomes {
	set := anyOutcome
	for _, says := range []struct {
		is   *bool
		what outcomes
	}{{f.Success, succeeded}, {f.Running, stillRuns}} {
		switch {
		case says.is == nil:
		case *says.is:
			set &= says.what
		default:
			set &^= says.what
		}
	}
	return set
}

// NewestExecutions returns the executions of all jobs, of each item only its newest, and at most so many in all: those that
// began last, the newest first, or, if ascending, those that began first, the oldest first. total is how many there are
// that the filter wants. Older ones are for [Namespace.Executions]: to read those of all jobs takes ten times as long.
func (n *Namespace) NewestExecutions(most int, ascending bool, f ExecutionFilter) (rows []ExecutionRow, total int) {
	type candidate struct {
		l   *look
		run *lastRun
	}
	order := func(a, b time.Time) int {
		if ascending {
			return a.Compare(b)
		}
		return b.Compare(a)
	}
	found := best[candidate]{most: most, order: func(a, b candidate) int { return order(a.run.begin, b.run.begin) }}
	wantedSources, wantedOutcomes := ^sources(0), f.outcomes()
	if f.Source != "" {
		wantedSources = sourceOf(f.Source)
	}
	var row ExecutionRow // one for all, as most are only looked at
	for _, l := range n.jobs {
		last := &l.lasts
		if last.sources&wantedSources == 0 || last.outcomes&wantedOutcomes == 0 {
			continue
		}
		if f.Source == "" && wantedOutcomes == anyOutcome && f.Wanted == nil {
			nearest := last.latest
			if ascending {
				nearest = last.first
			}
			if worst, full := found.worst(); full && order(nearest, worst.run.begin) >= 0 { // none of them comes before that
				total += len(last.all)
				continue
			}
		}
		for i := range last.all {
			run := &last.all[i]
			if run.source&wantedSources == 0 || run.outcome&wantedOutcomes == 0 || wantedSources == otherSource && run.e.Source != f.Source {
				continue
			}
			if f.Wanted != nil {
				if row = l.execution(int(run.item), run.e, run.token); !f.Wanted(&row) {
					continue
				}
			}
			total++
			found.add(candidate{l, run})
		}
	}
	for _, c := range found.sorted() {
		rows = append(rows, c.l.execution(int(c.run.item), c.run.e, c.run.token))
	}
	return rows, total
}

// NewestOperations returns at most so many of the last operations of the jobs that a function names, the newest first. id
// is that of all of them; empty is any. What cannot be read is left out.
func (n *Namespace) NewestOperations(most int, id string, of func(job string) bool) []Operation {
	type written struct {
		job string
		op  *jobtree.Operation
	}
	found := best[written]{most: most, order: func(a, b written) int { return b.op.When.Compare(a.op.When) }}
	for _, l := range n.jobs {
		if len(l.operated.Value.Operations) == 0 {
			continue
		}
		if worst, full := found.worst(); full && !l.operatedLast.After(worst.op.When) || l.operated.Err != nil || !of(l.name()) {
			continue
		}
		for i := range l.operated.Value.Operations {
			if op := &l.operated.Value.Operations[i]; id == "" || op.ID == id {
				found.add(written{l.name(), op})
			}
		}
	}
	var all []Operation
	for _, w := range found.sorted() {
		all = append(all, operationsOf(w.job, jobtree.Operated{Operations: []jobtree.Operation{*w.op}})...)
	}
	return all
}
