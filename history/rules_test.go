package history_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/history"
	"github.com/elasticron/elasticron/internal/protect"
	"github.com/elasticron/elasticron/job"
)

var begin = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)

func context7() job.ShardingContext {
	return job.ShardingContext{
		JobName: "orders", TaskID: "orders@-@0,7@-@READY@-@10.0.0.1@-@42", Item: 7, TotalCount: 8,
		Fire: begin.Add(-time.Second), Source: job.Misfire, Token: 12,
	}
}

func TestAnExecution(t *testing.T) {
	t.Parallel()
	start := history.Started("host-1", "R1", context7(), begin)
	require.True(t, start.Running())
	require.Equal(t, history.Execution{
		ID: start.ID, Round: "R1", Job: "orders", TaskID: "orders@-@0,7@-@READY@-@10.0.0.1@-@42", Hostname: "host-1", IP: "10.0.0.1",
		Source: job.Misfire, Item: 7, Fire: begin.Add(-time.Second), Token: 12, Start: begin,
	}, start)

	gone, failed := errors.New("session lost"), errors.New("out of stock")
	panicked := protect.Call(func() error { panic("boom") })
	end := begin.Add(time.Minute)
	for _, row := range []struct {
		name         string
		err, refused error
		success      bool
		cause        string // how it begins
	}{
		{"success", nil, nil, true, ""},
		{"failure", failed, nil, false, "out of stock"},
		{"no text", errors.New(""), nil, false, "*errors.errorString"},
		{"panic", panicked, nil, false, "panic: boom\ngoroutine "},
		{"taken away", nil, gone, false, "the code succeeded, but the end was refused: session lost"},
		{"taken away and failed", failed, gone, false, "the end was refused: session lost; the code failed: out of stock"},
		{"long", errors.New(strings.Repeat("ä", 5000)), nil, false, strings.Repeat("ä", 4000)},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			ended := start.Ended(end, row.err, row.refused)
			require.False(t, ended.Running())
			require.Equal(t, row.success, ended.Success)
			require.True(t, strings.HasPrefix(ended.FailureCause, row.cause), ended.FailureCause)
			require.Equal(t, row.success, ended.FailureCause == "")
			want := start
			want.Complete, want.Success, want.FailureCause = end, ended.Success, ended.FailureCause
			require.Equal(t, want, ended)
		})
	}
}

// The id of an execution differs if anything of it does that tells it from another.
func TestIDsOfExecutions(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	add := func(round string, at time.Time, change func(*job.ShardingContext)) {
		sc := context7()
		change(&sc)
		id := history.Started("h", round, sc, at).ID
		require.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", id)
		require.False(t, seen[id])
		seen[id] = true
	}
	add("R1", begin, func(*job.ShardingContext) {})
	add("R2", begin, func(*job.ShardingContext) {})
	add("R1", begin.Add(1), func(*job.ShardingContext) {})
	add("R1", begin, func(sc *job.ShardingContext) { sc.JobName = "invoices" })
	add("R1", begin, func(sc *job.ShardingContext) { sc.Item = 8 })
	add("R1", begin, func(sc *job.ShardingContext) { sc.Token = 13 })
}

func TestARound(t *testing.T) {
	t.Parallel()
	round := history.Round{
		ID: "R1", Job: "orders", TaskID: "orders@-@0,7@-@READY@-@10.0.0.1@-@42", Items: []int{0, 7}, Began: begin,
	}
	step := func(s history.Status, state history.State, message string, at time.Time) string {
		t.Helper()
		require.Equal(t, history.Status{
			ID: s.ID, Round: "R1", Job: "orders", TaskID: round.TaskID, SlaveID: "10.0.0.1", Source: "LITE_EXECUTOR",
			ExecutionType: "READY", ShardingItems: "[0, 7]", State: state, Message: message, Time: at,
		}, s)
		return s.ID
	}
	ids := map[string]bool{}
	ids[step(round.Staged(), "TASK_STAGING", "Job 'orders' execute begin.", begin)] = true
	ids[step(round.Running(begin.Add(1)), "TASK_RUNNING", "", begin.Add(1))] = true
	round.Ended = begin.Add(time.Second)
	ids[step(round.End(), "TASK_FINISHED", "", round.Ended)] = true
	round.Failed = map[int]error{7: errors.New("b"), 0: errors.New("a")}
	ids[step(round.End(), "TASK_ERROR", "{0=a, 7=b}", round.Ended)] = true
	require.Len(t, ids, 4)
}

func TestARoundOfManyFailures(t *testing.T) {
	t.Parallel()
	round := history.Round{Failed: map[int]error{}}
	for item := range 10_000 {
		round.Failed[item] = errors.New(strings.Repeat("x", 100))
	}
	message := round.End().Message
	require.Len(t, message, history.MaxText)
	require.True(t, strings.HasPrefix(message, "{0=xxx"))
}
