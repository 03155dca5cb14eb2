package catalog_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/metrics/internal/catalog"
	"github.com/elasticron/elasticron/scheduler"
)

// Names are what dashboards and alerts are built upon.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		metric         catalog.Metric
		opentelemetry  string
		prometheusName string
	}{
		{catalog.Executions, "elasticron.executions", "elasticron_executions_total"},
		{catalog.Lateness, "elasticron.execution.lateness", "elasticron_execution_lateness_seconds"},
		{catalog.Overdue, "elasticron.items.overdue", "elasticron_items_overdue"},
		{catalog.LastSuccess, "elasticron.job.last_success.timestamp", "elasticron_job_last_success_timestamp_seconds"},
	} {
		require.Equal(t, test.opentelemetry, test.metric.OpenTelemetry())
		require.Equal(t, test.prometheusName, test.metric.Prometheus())
	}
	require.Equal(t, "job_name", catalog.Job.Prometheus())
	require.Equal(t, "elasticron.job", catalog.Job.OpenTelemetry())
	require.Equal(t, "outcome", catalog.Outcome.Prometheus())
}

func TestEveryMetricIsDescribed(t *testing.T) {
	t.Parallel()
	names := make(map[string]bool)
	for _, m := range catalog.All() {
		require.False(t, names[m.Prometheus()], "two are called %s", m.Prometheus())
		names[m.Prometheus()] = true
		require.Regexp(t, `^[A-Z0-9].*\.$`, m.Help, m.Name)
		require.Regexp(t, `^(s|\{[a-z]+\})$`, m.Unit, m.Name)
	}
	require.Greater(t, len(names), 30)
}

// good is the report of a process with one job that is in order.
func good() scheduler.Health {
	return scheduler.Health{
		State: scheduler.StateRunning, Session: scheduler.SessionHealth{State: "connected"},
		Jobs: []scheduler.JobHealth{{
			Job: "orders", Answered: true, Joined: true, Leader: "10.0.0.1@-@a", Instances: 3, Items: 20, LastSuccess: time.UnixMilli(1500), ViewRevision: 9,
		}},
	}
}

func TestWhatAReportSays(t *testing.T) {
	t.Parallel()
	const missing = -1
	for name, test := range map[string]struct {
		change func(h *scheduler.Health, j *scheduler.JobHealth)
		want   map[string]float64 // where it differs from a report in order
	}{
		"in order": {func(*scheduler.Health, *scheduler.JobHealth) {}, nil},
		"overdue, waiting and failed": {func(_ *scheduler.Health, j *scheduler.JobHealth) {
			j.Overdue, j.Waiting, j.Failed = make([]scheduler.OverdueItem, 4), []int{1, 2}, []int{3}
		}, map[string]float64{"items.overdue": 4, "items.waiting": 2, "items.failed": 1}},
		"nobody leads or owns": {func(_ *scheduler.Health, j *scheduler.JobHealth) {
			j.Leader, j.Unowned = "", []int{7, 8}
		}, map[string]float64{"job.leaderless": 1, "items.unowned": 2}},
		"nobody leads or owns a disabled job": {func(_ *scheduler.Health, j *scheduler.JobHealth) {
			j.Disabled, j.Leader, j.Unowned, j.Waiting = true, "", []int{7, 8}, []int{3}
		}, map[string]float64{"job.disabled": 1}},
		"nobody leads or owns a job that pauses": {func(_ *scheduler.Health, j *scheduler.JobHealth) {
			j.Config, j.Joined, j.Leader, j.Unowned = "no cron", false, "", []int{7, 8}
		}, nil},
		"the strategy fails": {func(_ *scheduler.Health, j *scheduler.JobHealth) {
			j.Sharding = "panicked"
		}, map[string]float64{"job.stuck": 1}},
		"the session is in doubt": {func(h *scheduler.Health, _ *scheduler.JobHealth) {
			h.Session.State = "suspended"
		}, nil},
		"no session, so nothing is known of others": {func(h *scheduler.Health, j *scheduler.JobHealth) {
			h.Session.State, j.Joined, j.Overdue = "none", false, make([]scheduler.OverdueItem, 20)
		}, map[string]float64{
			"session.held": 0, "job.not_joined": 1, "job.disabled": missing, "job.leaderless": missing, "job.stuck": missing,
			"job.instances": missing, "items": missing, "items.overdue": missing, "items.waiting": missing, "items.unowned": missing,
			"items.failed": missing, "job.last_success.timestamp": missing,
		}},
		"denied": {func(_ *scheduler.Health, j *scheduler.JobHealth) {
			j.Blind, j.Joined = "denied", false
		}, map[string]float64{
			"job.disabled": missing, "job.leaderless": missing, "job.stuck": missing,
			"job.instances": missing, "items": missing, "items.overdue": missing, "items.waiting": missing, "items.unowned": missing,
			"items.failed": missing, "job.last_success.timestamp": missing,
		}},
		"the clock is wrong": {func(_ *scheduler.Health, j *scheduler.JobHealth) {
			j.Clock, j.Joined = "2m ahead", false
		}, map[string]float64{"job.clock_off": 1}},
		"an operator has shut the instance down": {func(_ *scheduler.Health, j *scheduler.JobHealth) {
			j.ShutDown, j.Joined = true, false
		}, nil},
		"this process is leaving the job": {func(_ *scheduler.Health, j *scheduler.JobHealth) {
			j.Leaving, j.Joined = true, false
		}, nil},
		"the job was not read yet": {func(_ *scheduler.Health, j *scheduler.JobHealth) {
			*j = scheduler.JobHealth{Job: j.Job, Answered: true}
		}, map[string]float64{
			"job.not_joined": 1, "job.disabled": missing, "job.leaderless": missing, "job.stuck": missing,
			"job.instances": missing, "items": missing, "items.overdue": missing, "items.waiting": missing, "items.unowned": missing,
			"items.failed": missing, "job.last_success.timestamp": missing,
		}},
		"nothing has succeeded yet": {func(_ *scheduler.Health, j *scheduler.JobHealth) {
			j.LastSuccess = time.Time{}
		}, map[string]float64{"job.last_success.timestamp": missing}},
		"the runner waits for the registry": {func(_ *scheduler.Health, j *scheduler.JobHealth) {
			*j = scheduler.JobHealth{Job: j.Job}
		}, map[string]float64{
			"job.unanswered": 1, "job.not_joined": missing, "job.clock_off": missing, "job.disabled": missing, "job.leaderless": missing,
			"job.stuck": missing, "job.instances": missing, "items": missing, "items.overdue": missing, "items.waiting": missing,
			"items.unowned": missing, "items.failed": missing, "job.last_success.timestamp": missing,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, want := good(), map[string]float64{
				"running": 1, "session.held": 1, "job.unanswered": 0, "job.not_joined": 0, "job.clock_off": 0, "job.disabled": 0,
				"job.leaderless": 0, "job.stuck": 0, "job.instances": 3, "items": 20, "items.overdue": 0, "items.waiting": 0,
				"items.unowned": 0, "items.failed": 0, "job.last_success.timestamp": 1.5,
			}
			test.change(&h, &h.Jobs[0])
			for metric, value := range test.want {
				want[metric] = value
				if value == missing {
					delete(want, metric)
				}
			}
			said := make(map[string]float64)
			for _, s := range catalog.SamplesOf(h) {
				require.NotContains(t, said, s.Name)
				require.Equal(t, s.Has(catalog.Job), s.Job == "orders", s.Name)
				said[s.Name] = s.Value
			}
			require.Equal(t, want, said)
		})
	}
	for _, state := range []string{scheduler.StateNew, scheduler.StateStopping, scheduler.StateStopped} {
		h := good()
		h.State = state
		require.Equal(t, []catalog.Sample{{Metric: catalog.Running}}, catalog.SamplesOf(h), state)
	}
}

func TestNobodyToAsk(t *testing.T) {
	t.Parallel()
	require.Empty(t, catalog.Reporter(nil).Samples(t.Context()))
}
