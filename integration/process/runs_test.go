//go:build linux

package process_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/registry"
)

// history returns what happened to one job.
func (o *observations) history(name string) checker.History {
	h := checker.History{Job: name, Incidents: o.incidents, End: o.end}
	for p, events := range o.events {
		h.Runs = append(h.Runs, runsOf(p, name, events)...)
		for _, e := range events {
			if e.Job == name && (e.Kind == kindRecorded || e.Kind == kindRefused) {
				h.Reports = append(h.Reports, checker.Report{
					At: e.time(), Instance: e.Instance, Item: e.Item, Token: e.Token, Refused: e.Failure.err(),
				})
			}
		}
	}
	slices.SortFunc(h.Runs, func(a, b checker.Run) int { return a.Began.Compare(b.Began) })
	slices.SortFunc(h.Reports, func(a, b checker.Report) int { return a.At.Compare(b.At) })
	for _, state := range o.states {
		if slices.ContainsFunc(state.Step.Changes, func(change registry.Change) bool {
			return registry.Within(change.Path(), jobtree.For(name).Root())
		}) {
			h.States = append(h.States, state)
		}
	}
	correctTimes(h)
	return h
}

// runsOf puts the runs of one process together. Those that the journal does not end died with the process,
// if that was killed.
func runsOf(p *process, name string, events []event) []checker.Run {
	type key struct {
		item  int
		token int64
	}
	open := make(map[key]*checker.Run)
	var runs []checker.Run
	for _, e := range events {
		k := key{e.Item, e.Token}
		switch run := open[k]; {
		case e.Job != name:
		case e.Kind == kindBegan:
			open[k] = &checker.Run{Instance: e.Instance, Context: e.context(), Began: e.time()}
		case e.Kind == kindCancelled:
			run.Cancelled, run.Cause = e.time(), e.Failure.err()
		case e.Kind == kindEnded:
			run.Ended, run.Err = e.time(), e.Failure.err()
			runs = append(runs, *run)
			delete(open, k)
		}
	}
	for run := range maps.Values(open) {
		run.Ended, run.Died = p.killed, !p.killed.IsZero()
		runs = append(runs, *run)
	}
	return runs
}

func TestRunsDieWithTheirProcess(t *testing.T) {
	t.Parallel()
	note := func(boot time.Duration, kind, name string, token int64) event {
		e := eventOf(kind, job.ShardingContext{JobName: name, Token: token}, nil)
		e.moment = moment{Boot: boot}
		return e
	}
	events := []event{
		note(1, kindBegan, "orders", 5), note(2, kindBegan, "others", 6), note(3, kindBegan, "orders", 7), note(4, kindEnded, "orders", 5),
	}
	killed := origin.Add(9)
	for _, p := range []*process{{killed: killed}, {}} {
		runs := runsOf(p, "orders", events)
		require.Len(t, runs, 2)
		require.Equal(t, origin.Add(4), runs[0].Ended)
		require.False(t, runs[0].Died)
		require.Equal(t, int64(7), runs[1].Context.Token)
		require.Equal(t, p.killed, runs[1].Ended)
		require.Equal(t, !p.killed.IsZero(), runs[1].Died)
	}
}

// rerun is a lost execution and the one that ran it again.
type rerun struct {
	lost  checker.Run
	died  time.Time
	again checker.Run
}

// after is how long it took from the crash until the item ran again.
func (r rerun) after() time.Duration { return r.again.Began.Sub(r.died) }

// reruns returns, of a job, the executions that died with their processes and ran again.
func (o *observations) reruns(name string) []rerun {
	var all []rerun
	runs := o.history(name).Runs
	for i, lost := range runs {
		if !lost.Died {
			continue
		}
		for _, again := range runs[i+1:] {
			same := again.Context.Item == lost.Context.Item && again.Context.Fire.Equal(lost.Context.Fire)
			if same && again.Context.Source == job.Failover {
				all = append(all, rerun{lost, lost.Ended, again})
				break
			}
		}
	}
	return all
}

// count returns how many runs of a job there were, by source.
func (o *observations) count(name string) map[job.Source]int {
	counts := make(map[job.Source]int)
	for _, run := range o.history(name).Runs {
		counts[run.Context.Source]++
	}
	return counts
}
