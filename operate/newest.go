package operate

import (
	"cmp"
	"hash/fnv"
	"io"
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
	server  uint16 // short for the server, see serverMark: most runs are passed over without a look at e
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

// serverMark is short for a server. Two servers may have the same.
func serverMark(server string) uint16 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, server)
	sum := h.Sum32()
	return uint16(sum>>16) ^ uint16(sum)
}

// markBit is the bit of a mark in a set of them.
func markBit(mark uint16) uint64 { return 1 << (mark % 64) }

// lastRuns are what of a job's executions lists of all jobs look at.
type lastRuns struct {
	all           []lastRun // in the order of the items
	sources       sources
	outcomes      outcomes
	servers       uint64    // the bits of their marks
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
		r := lastRun{item: int32(item), e: e, token: record.GivenToken(e, it.Record.Revision)}
		if e.Outcome == jobtree.NotStarted {
			before, is := record.Previous()
			if !is {
				continue
			}
			r.e, r.token = &before, record.GivenToken(&before, 0)
		}
		r.begin, r.source, r.outcome = r.e.Begin, sourceOf(r.e.Source), outcomeOf(r.e)
		r.server = serverMark(jobtree.ServerOf(r.e.Instance))
		l.servers |= markBit(r.server)
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
	Source           job.Source // empty: any
	Item             *int       // nil: any
	Server, Instance string     // where it ran, or runs; empty: anywhere
	From, Until      time.Time  // when it began, both included; zero: at any time
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

// judge is a filter, made ready to look at many.
type judge struct {
	*ExecutionFilter
	sources  sources
	outcomes outcomes
	anywhere bool   // no server and no instance is named
	mark     uint16 // of the server that is
	all      bool   // everything is wanted
}

func (f *ExecutionFilter) judge() judge {
	j := judge{ExecutionFilter: f, sources: ^sources(0), outcomes: f.outcomes(), anywhere: f.Server == "" && f.Instance == ""}
	if f.Source != "" {
		j.sources = sourceOf(f.Source)
	}
	j.mark = serverMark(cmp.Or(f.Server, jobtree.ServerOf(f.Instance)))
	j.all = f.Source == "" && j.outcomes == anyOutcome && f.Item == nil && j.anywhere && f.From.IsZero() && f.Until.IsZero() && f.Wanted == nil
	return j
}

// any tells whether some of a job's may be wanted.
func (j *judge) any(last *lastRuns) bool {
	return last.sources&j.sources != 0 && last.outcomes&j.outcomes != 0 && (j.anywhere || last.servers&markBit(j.mark) != 0) &&
		(j.From.IsZero() || !last.latest.Before(j.From)) && (j.Until.IsZero() || !last.first.After(j.Until))
}

// wants tells of one whether it is wanted, but for what Wanted says.
func (j *judge) wants(run *lastRun) bool {
	switch {
	case run.source&j.sources == 0, run.outcome&j.outcomes == 0, j.Item != nil && *j.Item != int(run.item), !j.anywhere && run.server != j.mark:
		return false
	case !j.From.IsZero() && run.begin.Before(j.From), !j.Until.IsZero() && run.begin.After(j.Until):
		return false
	case j.sources == otherSource && run.e.Source != j.Source:
		return false
	default:
		return j.anywhere || (j.Server == "" || jobtree.ServerOf(run.e.Instance) == j.Server) && (j.Instance == "" || run.e.Instance == j.Instance)
	}
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
	wanted := f.judge()
	var row ExecutionRow // one for all, as most are only looked at
	for _, l := range n.jobs {
		last := &l.lasts
		if !wanted.any(last) {
			continue
		}
		if wanted.all {
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
			if !wanted.wants(run) {
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
