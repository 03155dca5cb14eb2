package operate_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/operate"
	"github.com/elasticron/elasticron/registry"
)

// The newest executions and operations of all jobs are those that all jobs have, by time, and as many as are asked for.
func TestTheNewestOfAllJobs(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	var nodes []registry.Node
	var executions []operate.ExecutionRow
	var operations []operate.Operation
	put := func(path, value string) {
		nodes = append(nodes, registry.Node{Path: path, Value: value, Revision: registry.Revision(len(nodes) + 1)})
	}
	for j := range 4 {
		name := fmt.Sprintf("job-%d", j)
		text, err := jobtree.EncodeConfig(job.Config{Name: name, Cron: "@hourly", ShardingTotalCount: 3, JobParameter: "geheim"})
		require.NoError(t, err)
		put(jobtree.For(name).Config(), text)
		for item := range 3 {
			at := began.Add(time.Duration((j*5+item*7)%12) * time.Minute)
			r, err := jobtree.Record{}.Begin(jobtree.Begin{Instance: []string{first, second}[(j+item)%2], Session: 7, Source: job.Scheduled, Fire: at, Time: at})
			require.NoError(t, err)
			if item == 1 {
				r, err = r.End(jobtree.End{Token: 41, Time: at.Add(time.Second), Outcome: jobtree.Success})
				require.NoError(t, err)
			}
			put(jobtree.For(name).ItemRecord(item), jobtree.EncodeRecord(r))
		}
		var done jobtree.Operated
		for i := range 3 {
			done = done.With(jobtree.Operation{
				ID: fmt.Sprintf("op-%d", i), Verb: string(operate.VerbSettings), Who: "anna", When: began.Add(time.Duration((j*4+i*5)%12) * time.Hour), Before: text,
			})
		}
		put(jobtree.For(name).Operated(), jobtree.EncodeOperated(done))
	}
	put(jobtree.For("unreadable").Operated(), "{")
	ns := operate.NewNamespace(nodes, 100, began, false)
	for _, name := range ns.Names() {
		executions = append(executions, ns.Executions(name)...)
		var one []operate.ExecutionRow
		for item := -1; item < 5; item++ {
			one = append(one, ns.ExecutionsOf(name, item)...)
		}
		require.Equal(t, ns.Executions(name), one)
		operations = append(operations, ns.Operations(name)...)
	}
	require.Len(t, executions, 12)
	require.Len(t, operations, 12)
	oldest := slices.Clone(executions)
	slices.SortStableFunc(oldest, func(a, b operate.ExecutionRow) int { return a.Begin.Compare(b.Begin) })
	slices.SortStableFunc(executions, func(a, b operate.ExecutionRow) int { return b.Begin.Compare(a.Begin) })
	slices.SortStableFunc(operations, func(a, b operate.Operation) int { return b.When.Compare(a.When) })

	every := operate.ExecutionFilter{}
	for _, most := range []int{0, 1, 2, 3, 5, 12, 100} {
		for _, filter := range []operate.ExecutionFilter{{Source: job.Scheduled}, {Wanted: func(*operate.ExecutionRow) bool { return true }}} {
			for _, ascending := range []bool{false, true} {
				want, of := ns.NewestExecutions(most, ascending, every)
				got, total := ns.NewestExecutions(most, ascending, filter)
				require.Equal(t, want, got)
				require.Equal(t, of, total)
			}
		}
		got, total := ns.NewestExecutions(most, false, every)
		require.Equal(t, 12, total)
		require.ElementsMatch(t, executions[:min(most, 12)], got)
		require.True(t, slices.EqualFunc(executions[:min(most, 12)], got, func(a, b operate.ExecutionRow) bool { return a == b }))
		got, _ = ns.NewestExecutions(most, true, every)
		require.ElementsMatch(t, oldest[:min(most, 12)], got)
		all := ns.NewestOperations(most, "", func(string) bool { return true })
		require.ElementsMatch(t, operations[:min(most, 12)], all)
		for _, o := range all {
			require.NotContains(t, o.Before, "geheim")
		}
	}
	got, total := ns.NewestExecutions(2, false, operate.ExecutionFilter{Wanted: func(e *operate.ExecutionRow) bool { return e.Outcome == string(jobtree.Success) }})
	require.Equal(t, 4, total)
	require.Len(t, got, 2)
	yes, no := true, false
	for i, test := range []struct {
		filter operate.ExecutionFilter
		want   int
	}{
		{operate.ExecutionFilter{Success: &yes}, 4},
		{operate.ExecutionFilter{Success: &no}, 8},
		{operate.ExecutionFilter{Running: &yes}, 8},
		{operate.ExecutionFilter{Running: &no}, 4},
		{operate.ExecutionFilter{Running: &no, Success: &no}, 0},
		{operate.ExecutionFilter{Running: &yes, Success: &yes}, 0},
	} {
		rows, total := ns.NewestExecutions(100, true, test.filter)
		require.Equal(t, test.want, total, i)
		require.Len(t, rows, total, i)
	}
	item, none := 1, 7
	for _, test := range []struct {
		filter operate.ExecutionFilter
		wanted func(*operate.ExecutionRow) bool
		some   bool
	}{
		{operate.ExecutionFilter{Item: &item}, func(e *operate.ExecutionRow) bool { return e.Item == item }, true},
		{operate.ExecutionFilter{Item: &none}, func(e *operate.ExecutionRow) bool { return e.Item == none }, false},
		{operate.ExecutionFilter{Instance: first}, func(e *operate.ExecutionRow) bool { return e.Instance == first }, true},
		{operate.ExecutionFilter{Instance: second}, func(e *operate.ExecutionRow) bool { return e.Instance == second }, true},
		{operate.ExecutionFilter{Instance: first + "0"}, func(*operate.ExecutionRow) bool { return false }, false},
		{operate.ExecutionFilter{Server: jobtree.ServerOf(second)}, func(e *operate.ExecutionRow) bool { return jobtree.ServerOf(e.Instance) == jobtree.ServerOf(second) }, true},
		{operate.ExecutionFilter{Server: "10.9.9.9"}, func(*operate.ExecutionRow) bool { return false }, false},
		{operate.ExecutionFilter{Server: jobtree.ServerOf(first), Instance: second}, func(*operate.ExecutionRow) bool { return false }, false},
		{operate.ExecutionFilter{From: began.Add(4 * time.Minute)}, func(e *operate.ExecutionRow) bool { return !e.Begin.Before(began.Add(4 * time.Minute)) }, true},
		{operate.ExecutionFilter{Until: began.Add(4 * time.Minute)}, func(e *operate.ExecutionRow) bool { return !e.Begin.After(began.Add(4 * time.Minute)) }, true},
		{operate.ExecutionFilter{From: began.Add(time.Hour)}, func(*operate.ExecutionRow) bool { return false }, false},
		{operate.ExecutionFilter{Until: began.Add(-time.Hour)}, func(*operate.ExecutionRow) bool { return false }, false},
		{operate.ExecutionFilter{From: began.Add(5 * time.Minute), Until: began.Add(5 * time.Minute), Success: &no}, func(e *operate.ExecutionRow) bool {
			return e.Begin.Equal(began.Add(5*time.Minute)) && e.Outcome != string(jobtree.Success)
		}, true},
	} {
		want, of := ns.NewestExecutions(100, true, operate.ExecutionFilter{Wanted: test.wanted})
		got, total := ns.NewestExecutions(100, true, test.filter)
		require.Equal(t, want, got)
		require.Equal(t, of, total)
		require.Equal(t, test.some, total > 0, test.filter)
	}
	looked := 0
	_, _ = ns.NewestExecutions(2, false, operate.ExecutionFilter{Source: job.Failover, Wanted: func(*operate.ExecutionRow) bool { looked++; return true }})
	require.Zero(t, looked, "jobs without a failover are not looked through")
	for source, want := range map[job.Source]int{job.Failover: 0, job.Misfire: 0, "of a later version": 0, job.Scheduled: 12} {
		_, total = ns.NewestExecutions(2, false, operate.ExecutionFilter{Source: source})
		require.Equal(t, want, total, source)
	}
	require.Len(t, ns.NewestOperations(100, "op-1", func(job string) bool { return job != "job-2" }), 3)
}
