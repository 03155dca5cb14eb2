package prometheus_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"

	"github.com/elasticron/elasticron/internal/jobtree"
	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/job/errorhandler"
	"github.com/elasticron/elasticron/metrics/prometheus"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// What a scheduler does is what is exported, from its start to its stop.
func TestMetricsOfAScheduler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		collector := newCollector(t, prometheus.WithItems(2))
		registerer := client.NewPedanticRegistry()
		require.NoError(t, registerer.Register(collector))
		reg := memory.NewServer().Open("test")
		s, err := scheduler.New(reg, scheduler.WithObserver(collector))
		require.NoError(t, err)
		cfg := job.Config{Name: "orders", Cron: "0/5 * * * * ?", ShardingTotalCount: 3}
		cfg.Retries = 1
		failing := errors.New("out of stock")
		_, err = s.Add(t.Context(), cfg, job.HandlerFunc(func(_ context.Context, sc job.ShardingContext) error {
			time.Sleep(time.Second)
			return []error{nil, nil, failing}[sc.Item]
		}), scheduler.WithListener(job.ListenerFuncs{Before: func(context.Context, job.Round) error { return failing }}))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		time.Sleep(12 * time.Second) // after the round of second 5, within that of second 10
		synctest.Wait()
		requireMetrics(t, collector, `
			elasticron_executions_total{job_name="orders",outcome="failure",source="scheduled"} 1
			elasticron_executions_total{job_name="orders",outcome="success",source="scheduled"} 4
			elasticron_executions_running{job_name="orders"} 1
			elasticron_execution_retries_total{job_name="orders"} 2
			elasticron_leader{job_name="orders"} 1
			elasticron_elections_total{job_name="orders"} 1
			elasticron_reshardings_total{job_name="orders"} 1
			elasticron_items_moved_total{job_name="orders"} 3
			elasticron_session_connected 1
			elasticron_session_changes_total{change="established"} 1
			elasticron_listener_failures_total{job_name="orders",listener="before run"} 2
			elasticron_item_executions_total{item="0",job_name="orders",outcome="success"} 2
			elasticron_item_executions_total{item="1",job_name="orders",outcome="success"} 2
			elasticron_item_executions_total{item="other",job_name="orders",outcome="failure"} 1
			elasticron_item_last_duration_seconds{item="0",job_name="orders"} 1
			elasticron_running 1
			elasticron_session_held 1
			elasticron_items{job_name="orders"} 3
			elasticron_items_failed{job_name="orders"} 1
			elasticron_items_overdue{job_name="orders"} 0
			elasticron_job_instances{job_name="orders"} 1
			elasticron_job_leaderless{job_name="orders"} 0
			elasticron_job_last_success_timestamp_seconds{job_name="orders"} 9.46684811e+08
		`)
		for _, histogram := range []string{"execution_duration", "execution_lateness", "round_duration"} {
			require.Positive(t, testutil.CollectAndCount(collector, "elasticron_"+histogram+"_seconds"), histogram)
		}
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, reg.Close(context.Background()))
		requireMetrics(t, collector, `
			elasticron_executions_running{job_name="orders"} 0
			elasticron_leader{job_name="orders"} 0
			elasticron_running 0
		`)
		require.Zero(t, testutil.CollectAndCount(collector, "elasticron_items"), "nobody knows any more")
	})
}

// Of a job whose items take turns, those that wait are shown, and so is a handler that fails.
func TestMetricsOfABoundedJob(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		collector := newCollector(t)
		handlers := errorhandler.Default()
		require.NoError(t, handlers.Register("BROKEN", func(job.Config, *slog.Logger) (job.ErrorHandler, error) {
			return job.ErrorHandlerFunc(func(context.Context, string, job.ShardingContext, error) error {
				return errors.New("nobody is at home")
			}), nil
		}))
		reg := memory.NewServer().Open("test")
		s, err := scheduler.New(reg, scheduler.WithObserver(collector), scheduler.WithErrorHandlers(handlers))
		require.NoError(t, err)
		cfg := job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: 3}
		cfg.MaxConcurrentItems, cfg.ErrorHandler = 1, "BROKEN"
		_, err = s.Add(t.Context(), cfg, job.HandlerFunc(func(context.Context, job.ShardingContext) error {
			time.Sleep(time.Second)
			return errors.New("out of stock")
		}))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		time.Sleep(5500 * time.Millisecond)
		synctest.Wait()
		requireMetrics(t, collector, `elasticron_executions_waiting{job_name="orders"} 2`)
		time.Sleep(10 * time.Second)
		requireMetrics(t, collector, `
			elasticron_executions_waiting{job_name="orders"} 0
			elasticron_error_handler_failures_total{job_name="orders"} 3
		`)
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, reg.Close(context.Background()))
	})
}

// A job that pauses, and one whose tree cannot be followed, show until they go on, and so does the list of
// jobs.
func TestMetricsOfWhatDoesNotGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		collector := newCollector(t)
		server := memory.NewServer()
		reg, operator := server.Open("test"), server.Open("test")
		nothing := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
		s, err := scheduler.New(reg, scheduler.WithObserver(collector), scheduler.WithHandler("data", nothing))
		require.NoError(t, err)
		_, err = s.Add(t.Context(), job.Config{Name: "orders", Cron: "0/5 * * * * ?", ShardingTotalCount: 1}, nothing)
		require.NoError(t, err)
		data := job.Config{Name: "bills", Cron: "0/5 * * * * ?", ShardingTotalCount: 1}
		data.Class = "data"
		text, err := jobtree.EncodeConfig(data)
		require.NoError(t, err)
		write := func(writes ...registry.Write) {
			_, err := operator.Commit(t.Context(), registry.Txn{Then: writes})
			require.NoError(t, err)
		}
		write(registry.Put("/bills/config", text))
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		time.Sleep(time.Second)

		stored, err := operator.Get(t.Context(), "/orders/config")
		require.NoError(t, err)
		write(registry.Put("/orders/config", "{"))
		reg.Deny("/bills", false)
		time.Sleep(time.Second)
		requireMetrics(t, collector, `
			elasticron_job_paused{job_name="orders"} 1
			elasticron_view_blind{job_name="bills"} 1
			elasticron_view_blind{job_name=""} 1
		`)
		write(registry.Put("/orders/config", stored.Value))
		reg.Allow()
		time.Sleep(10 * time.Second)
		requireMetrics(t, collector, `
			elasticron_job_paused{job_name="orders"} 0
			elasticron_view_blind{job_name="bills"} 0
			elasticron_view_blind{job_name=""} 0
		`)
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, reg.Close(context.Background()))
		require.NoError(t, operator.Close(context.Background()))
	})
}

// Whatever is declared, the number of series is bounded.
func TestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	collector, now := newCollector(t, prometheus.WithMaxJobs(3), prometheus.WithItems(4)), time.Now()
	for n := range 100 {
		for item := range 50 {
			e := scheduler.ItemEvent{Context: job.ShardingContext{JobName: fmt.Sprintf("job %d", n), Item: item, Source: job.Manual}}
			collector.Observe(e)
			e.Ended = now
			collector.Observe(e)
		}
	}
	require.Equal(t, 4, testutil.CollectAndCount(collector, "elasticron_executions_total"))
	require.Equal(t, 4*5, testutil.CollectAndCount(collector, "elasticron_item_executions_total"))
	requireMetrics(t, collector, `elasticron_executions_total{job_name="other",outcome="success",source="manual"} 4850`)
}

// A job that is left makes room for one that comes later, and what was said of it goes. What shares a label shares it
// until it is left.
func TestAJobThatIsLeftMakesRoom(t *testing.T) {
	t.Parallel()
	collector := newCollector(t, prometheus.WithMaxJobs(1), prometheus.WithItems(1))
	run := func(ended time.Time, names ...string) {
		for _, name := range names {
			item := scheduler.ItemEvent{Context: job.ShardingContext{JobName: name, Source: job.Manual}, Ended: ended}
			collector.Observe(item)
			if ended.IsZero() {
				collector.Observe(scheduler.WaitingEvent{Job: name, Waiting: 2})
			}
		}
	}
	collector.Observe(scheduler.JoinEvent{Job: "a"})
	run(time.Time{}, "b", "c", "a")
	requireMetrics(t, collector, `
		elasticron_executions_running{job_name="a"} 1
		elasticron_executions_running{job_name="other"} 2
		elasticron_executions_waiting{job_name="other"} 4
	`)
	collector.Observe(scheduler.LeftEvent{Job: "a"})
	for _, gone := range []string{"executions_running", "executions_waiting", "item_last_begin_timestamp_seconds"} {
		require.Equal(t, 1, testutil.CollectAndCount(collector, "elasticron_"+gone), "%s of the others", gone)
	}
	collector.Observe(scheduler.ErrorHandlerEvent{Context: job.ShardingContext{JobName: "a"}}) // late
	collector.Observe(scheduler.ListenerEvent{Job: "a", Listener: scheduler.ListenerLeadership})
	run(time.Time{}, "d")
	run(time.Now(), "b")
	collector.Observe(scheduler.LeftEvent{Job: "c"})
	requireMetrics(t, collector, `
		elasticron_executions_running{job_name="d"} 1
		elasticron_executions_running{job_name="other"} 0
		elasticron_executions_waiting{job_name="other"} 2
		elasticron_executions_total{job_name="other",outcome="success",source="manual"} 1
		elasticron_error_handler_failures_total{job_name="other"} 1
		elasticron_listener_failures_total{job_name="other",listener="leadership"} 1
	`)
}

// A report that was made before a job was left does not keep its place.
func TestAReportKeepsNoPlace(t *testing.T) {
	t.Parallel()
	collector, jobs := newCollector(t, prometheus.WithMaxJobs(1)), []string{"a"}
	collector.ObserveHealth(func(context.Context) scheduler.Health {
		h := scheduler.Health{State: scheduler.StateRunning}
		for _, name := range jobs {
			h.Jobs = append(h.Jobs, scheduler.JobHealth{Job: name, Answered: true})
		}
		return h
	})
	collector.Observe(scheduler.JoinEvent{Job: "a"})
	collector.Observe(scheduler.LeftEvent{Job: "a"})
	requireMetrics(t, collector, `elasticron_job_not_joined{job_name="a"} 1`)
	jobs = nil
	requireMetrics(t, collector, `elasticron_running 1`)
	jobs = []string{"b"}
	requireMetrics(t, collector, `elasticron_job_not_joined{job_name="b"} 1`)
}

// Jobs that come and go, as data and by hand, do not use up the labels; and when the scheduler has ended, it says
// nothing more of how things are.
func TestJobsComeAndGo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		collector, server := newCollector(t, prometheus.WithMaxJobs(1)), memory.NewServer()
		reg, operator := server.Open("test"), server.Open("test")
		nothing := job.HandlerFunc(func(context.Context, job.ShardingContext) error { return nil })
		s, err := scheduler.New(reg, scheduler.WithObserver(collector), scheduler.WithHandler("data", nothing))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		time.Sleep(time.Second)
		for n := range 3 {
			data := job.Config{Name: fmt.Sprintf("data%d", n), Cron: "0/5 * * * * ?", ShardingTotalCount: 1}
			data.Class = "data"
			text, err := jobtree.EncodeConfig(data)
			require.NoError(t, err)
			_, err = operator.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.Put("/"+data.Name+"/config", text)}})
			require.NoError(t, err)
			time.Sleep(10 * time.Second)
			requireMetrics(t, collector, fmt.Sprintf("elasticron_leader{job_name=%q} 1", data.Name))
			_, err = operator.Commit(t.Context(), registry.Txn{Then: []registry.Write{registry.DeleteTree("/" + data.Name)}})
			require.NoError(t, err)
			time.Sleep(10 * time.Second)
			added, err := s.Add(t.Context(), job.Config{Name: fmt.Sprintf("added%d", n), Cron: "0/5 * * * * ?", ShardingTotalCount: 1}, nothing)
			require.NoError(t, err)
			time.Sleep(10 * time.Second)
			requireMetrics(t, collector, fmt.Sprintf("elasticron_leader{job_name=\"added%d\"} 1", n))
			if n < 2 {
				require.NoError(t, added.Leave(t.Context()))
				synctest.Wait()
				require.Zero(t, testutil.CollectAndCount(collector, "elasticron_leader"))
			}
		}
		s.StopNow()
		require.NoError(t, <-done)
		requireMetrics(t, collector, `
			elasticron_leader{job_name="added2"} 0
			elasticron_session_connected 0
		`)
		cancel()
		require.NoError(t, reg.Close(context.Background()))
		require.NoError(t, operator.Close(context.Background()))
	})
}

// Of a scheduler that has ended in any way nothing goes on.
func TestAnEndTakesBackHowThingsAre(t *testing.T) {
	t.Parallel()
	collector, why := newCollector(t, prometheus.WithMaxJobs(1)), errors.New("out of stock")
	for _, name := range []string{"a", "b"} {
		collector.Observe(scheduler.ItemEvent{Context: job.ShardingContext{JobName: name, Source: job.Manual}})
		collector.Observe(scheduler.WaitingEvent{Job: name, Waiting: 3})
		collector.Observe(scheduler.LeadershipEvent{Job: name, Leading: true})
		collector.Observe(scheduler.PauseEvent{Job: name, Err: why})
		collector.Observe(scheduler.ViewEvent{Job: name, Err: why})
	}
	collector.Observe(scheduler.ViewEvent{Err: why})
	collector.Observe(scheduler.ConnectionEvent{Change: scheduler.ConnectionEstablished})
	collector.Observe(scheduler.LoadEvent{LoadHealth: scheduler.LoadHealth{Overloaded: true}})
	collector.Observe(scheduler.EndEvent{})
	for _, label := range []string{"a", "other"} {
		requireMetrics(t, collector, fmt.Sprintf(`
			elasticron_executions_running{job_name=%[1]q} 0
			elasticron_executions_waiting{job_name=%[1]q} 0
			elasticron_leader{job_name=%[1]q} 0
			elasticron_elections_total{job_name=%[1]q} 1
			elasticron_job_paused{job_name=%[1]q} 0
			elasticron_view_blind{job_name=%[1]q} 0
		`, label))
	}
	requireMetrics(t, collector, `
		elasticron_view_blind{job_name=""} 0
		elasticron_session_connected 0
		elasticron_overloaded 0
	`)
}

// Of jobs that share a label, a gauge is the sum: one that goes on does not hide another that does not.
func TestGaugesOfJobsThatShareALabel(t *testing.T) {
	t.Parallel()
	collector, why := newCollector(t, prometheus.WithMaxJobs(1)), errors.New("out of stock")
	tell := func(err error, leading bool, waiting int, jobs ...string) {
		for _, name := range jobs {
			collector.Observe(scheduler.PauseEvent{Job: name, Err: err})
			collector.Observe(scheduler.ViewEvent{Job: name, Err: err})
			collector.Observe(scheduler.LeadershipEvent{Job: name, Leading: leading})
			collector.Observe(scheduler.WaitingEvent{Job: name, Waiting: waiting})
		}
	}
	of := func(label string, jobs, waiting int) string {
		return fmt.Sprintf(`
			elasticron_job_paused{job_name=%[1]q} %[2]d
			elasticron_view_blind{job_name=%[1]q} %[2]d
			elasticron_leader{job_name=%[1]q} %[2]d
			elasticron_executions_waiting{job_name=%[1]q} %[3]d
		`, label, jobs, waiting)
	}
	tell(why, true, 3, "own", "a", "b", "c")
	requireMetrics(t, collector, of("own", 1, 3)+of("other", 3, 9))
	tell(why, true, 5, "b") // again, and with more that wait
	requireMetrics(t, collector, of("other", 3, 11))
	tell(nil, false, 0, "own", "b")
	requireMetrics(t, collector, of("own", 0, 0)+of("other", 2, 6))
	tell(nil, false, 0, "b")
	requireMetrics(t, collector, of("other", 2, 6))
	tell(nil, false, 0, "a", "c")
	requireMetrics(t, collector, of("other", 0, 0))
	tell(why, true, 1, "other") // a job may be called so
	requireMetrics(t, collector, of("other", 1, 1))
}

// Jobs that share a label are added up. Of their times the newest counts.
func TestReportsOfJobsThatShareALabel(t *testing.T) {
	t.Parallel()
	collector := newCollector(t, prometheus.WithMaxJobs(1))
	collector.ObserveHealth(func(context.Context) scheduler.Health {
		h := scheduler.Health{State: scheduler.StateRunning, Session: scheduler.SessionHealth{State: "connected"}}
		for n := range 3 {
			h.Jobs = append(h.Jobs, scheduler.JobHealth{
				Job: fmt.Sprintf("job %d", n), Answered: true, Joined: true, Leader: "a", Items: 4, ViewRevision: 1,
				Overdue: make([]scheduler.OverdueItem, n+1), LastSuccess: time.Unix(int64(100-n), 0),
			})
		}
		return h
	})
	requireMetrics(t, collector, `
		elasticron_items{job_name="job 0"} 4
		elasticron_items{job_name="other"} 8
		elasticron_items_overdue{job_name="job 0"} 1
		elasticron_items_overdue{job_name="other"} 5
		elasticron_job_last_success_timestamp_seconds{job_name="job 0"} 100
		elasticron_job_last_success_timestamp_seconds{job_name="other"} 99
	`)
}

// The names follow Prometheus's conventions, as its own linter knows them.
func TestNamesAreConventional(t *testing.T) {
	t.Parallel()
	collector, now := newCollector(t, prometheus.WithItems(1)), time.Now()
	e := scheduler.ItemEvent{Context: job.ShardingContext{JobName: "orders", Source: job.Scheduled}}
	collector.Observe(e)
	collector.Observe(scheduler.RetryEvent{Context: e.Context})
	e.Ended = now
	collector.Observe(e)
	collector.Observe(scheduler.RoundEvent{Job: "orders", Began: now, Ended: now})
	collector.Observe(scheduler.LeadershipEvent{Job: "orders", Leading: true})
	collector.Observe(scheduler.ReshardEvent{Job: "orders"})
	collector.Observe(scheduler.PauseEvent{Job: "orders"})
	collector.Observe(scheduler.ConnectionEvent{Change: scheduler.ConnectionLost})
	collector.Observe(scheduler.WholeRoundEvent{Job: "orders", Phase: "started", Outcome: "success"})
	collector.Observe(scheduler.WaitingEvent{Job: "orders", Waiting: 1})
	collector.Observe(scheduler.LoadEvent{LoadHealth: scheduler.LoadHealth{Overloaded: true, Wanted: 9, Begun: 4, Dropped: 5}})
	requireMetrics(t, collector, `
		elasticron_overloaded 1
		elasticron_overload_fires_total{fate="wanted"} 9
		elasticron_overload_fires_total{fate="begun"} 4
		elasticron_overload_fires_total{fate="dropped"} 5
	`)
	collector.Observe(scheduler.ViewEvent{Job: "orders", Err: errors.New("denied")})
	collector.Observe(scheduler.ErrorHandlerEvent{Context: e.Context})
	collector.Observe(scheduler.ListenerEvent{Listener: scheduler.ListenerConnection})
	problems, err := testutil.CollectAndLint(collector)
	require.NoError(t, err)
	require.Empty(t, problems)
}

// A clock that is set back while something runs takes nothing from what was measured before.
func TestAClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	collector, now := newCollector(t, prometheus.WithItems(1)), time.Now()
	e := scheduler.ItemEvent{Context: job.ShardingContext{JobName: "orders", Source: job.Scheduled, Fire: now}, Began: now.Add(-time.Hour)}
	collector.Observe(e)
	e.Ended = now.Add(-2 * time.Hour)
	collector.Observe(e)
	collector.Observe(scheduler.RoundEvent{Job: "orders", Began: e.Began, Ended: e.Ended})
	registerer := client.NewPedanticRegistry()
	require.NoError(t, registerer.Register(collector))
	families, err := registerer.Gather()
	require.NoError(t, err)
	measured := 0
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if m.GetHistogram() != nil {
				require.Zero(t, m.GetHistogram().GetSampleSum(), family.GetName())
				measured += int(m.GetHistogram().GetSampleCount())
			}
		}
	}
	require.Equal(t, 3, measured)
	requireMetrics(t, collector, `elasticron_item_last_duration_seconds{item="0",job_name="orders"} 0`)
}

// requireMetrics asks for each line of want among what the collector shows.
func requireMetrics(t *testing.T, collector client.Collector, want string) {
	t.Helper()
	registerer := client.NewPedanticRegistry()
	require.NoError(t, registerer.Register(collector))
	families, err := registerer.Gather()
	require.NoError(t, err)
	shown := make(map[string]float64)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
			}
			name := family.GetName()
			if labels != nil {
				name += "{" + strings.Join(labels, ",") + "}"
			}
			shown[name] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	for line := range strings.Lines(want) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		at := strings.LastIndex(line, " ")
		require.Contains(t, shown, line[:at])
		require.Equal(t, line[at+1:], fmt.Sprint(shown[line[:at]]), line[:at])
	}
}

func newCollector(t *testing.T, opts ...prometheus.Option) *prometheus.Collector {
	t.Helper()
	collector, err := prometheus.New(opts...)
	require.NoError(t, err)
	return collector
}

func TestOptionsThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	for fault, set := range map[string]prometheus.Option{
		"invalid option: -1 jobs with a label of their own is negative":  prometheus.WithMaxJobs(-1),
		"invalid option: -2 items with metrics of their own is negative": prometheus.WithItems(-2),
		"invalid option: bucket 1 is not above the one before it":        prometheus.WithBuckets(0.5, 1, 1),
		"invalid option: bucket NaN is not above the one before it":      prometheus.WithBuckets(math.NaN()),
	} {
		_, err := prometheus.New(set)
		require.ErrorIs(t, err, prometheus.ErrInvalidOption)
		require.EqualError(t, err, fault)
	}
}
