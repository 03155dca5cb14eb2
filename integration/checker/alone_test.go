package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/integration/checker"
	"github.com/elasticron/elasticron/job"
)

// What runs show by themselves.
func TestJudgeRuns(t *testing.T) {
	t.Parallel()
	// run is one of the first fire, of an item that takes a second.
	run := func(instance string, token int64, source job.Source, change ...func(*checker.Run)) checker.Run {
		r := checker.Run{Instance: instance, Began: fire, Ended: fire.Add(second)}
		r.Context = job.ShardingContext{JobName: "orders", Item: 1, Fire: fire, Token: token, Source: source}
		for _, edit := range change {
			edit(&r)
		}
		return r
	}
	later := func(r *checker.Run) { r.Began, r.Ended = r.Began.Add(10*second), r.Ended.Add(10*second) }
	next := func(r *checker.Run) { later(r); r.Context.Fire = r.Began }
	halfway := func(r *checker.Run) { r.Began = fire.Add(second / 2); r.Context.Fire = r.Began }
	died := func(r *checker.Run) { r.Died = true }
	otherItem := func(r *checker.Run) { r.Context.Item = 0 }
	paused := checker.Incident{Kind: checker.Paused, Instance: a, From: fire.Add(second / 10), Until: fire.Add(20 * second)}
	for _, c := range []struct {
		name      string
		runs      []checker.Run
		incidents []checker.Incident
		want      []lapse
	}{
		{name: "one after the other", runs: []checker.Run{run(a, 5, job.Scheduled), run(b, 7, job.Scheduled, next)}},
		{name: "two items", runs: []checker.Run{run(a, 5, job.Scheduled), run(b, 7, job.Scheduled, otherItem)}},
		{name: "what died runs again", runs: []checker.Run{run(a, 5, job.Scheduled, died), run(b, 7, job.Failover, later)}},
		{name: "by hand", runs: []checker.Run{run(a, 5, job.Scheduled), run(b, 7, job.Manual, later)}},
		{
			"two at once",
			[]checker.Run{run(a, 5, job.Scheduled), run(b, 7, job.Scheduled, halfway)},
			nil,
			lapses(checker.OneHolder, "ran twice at once"),
		},
		{
			name: "one stands still meanwhile", incidents: []checker.Incident{paused},
			runs: []checker.Run{run(a, 5, job.Scheduled, func(r *checker.Run) { r.Ended = fire.Add(21 * second); r.Cancelled = fire.Add(20 * second) }), run(b, 7, job.Failover, later)},
		},
		{
			"a fire twice",
			[]checker.Run{run(a, 5, job.Scheduled), run(b, 7, job.Misfire, later)},
			nil,
			lapses(checker.OneExecution, "executed twice"),
		},
		{
			"a token twice",
			[]checker.Run{run(a, 5, job.Scheduled), run(b, 5, job.Scheduled, next)},
			nil,
			lapses(checker.OneExecution, "called twice"),
		},
		{
			"a token goes back",
			[]checker.Run{run(a, 5, job.Scheduled), run(b, 3, job.Scheduled, next)},
			nil,
			lapses(checker.GrowingToken, "old token"),
		},
		{
			"run again though it had ended",
			[]checker.Run{run(a, 5, job.Scheduled), run(b, 7, job.Failover, later)},
			nil,
			lapses(checker.NothingForgotten, "had come to its end"),
		},
		{
			name: "run again as its process could not tell", incidents: []checker.Incident{{Kind: checker.Crashed, Instance: a, From: fire.Add(second)}},
			runs: []checker.Run{run(a, 5, job.Scheduled), run(b, 7, job.Failover, later)},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			incidents := append([]checker.Incident{{Kind: checker.Started, Instance: a, From: start}, {Kind: checker.Started, Instance: b, From: start}}, c.incidents...)
			findings := checker.JudgeRuns(checker.History{Job: "orders", Runs: c.runs, Incidents: incidents, End: fire.Add(minute)}, checker.DefaultRules())
			require.Len(t, findings, len(c.want), "%v", findings)
			for _, w := range c.want {
				require.Condition(t, func() bool { return hasLapse(findings, w) }, "no finding %q of %s among %v", w.text, w.of, findings)
			}
		})
	}
}
