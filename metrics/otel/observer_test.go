package otel_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	api "go.opentelemetry.io/otel/trace"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/metrics/otel"
	"github.com/elasticron/elasticron/registry/memory"
	"github.com/elasticron/elasticron/scheduler"
)

// Jobs that pause, and views that cannot be followed, are counted once each, however often that is told.
func TestWhatDoesNotGoOn(t *testing.T) {
	t.Parallel()
	reader := metric.NewManualReader()
	observer, err := otel.New(otel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))))
	require.NoError(t, err)
	why := errors.New("no permission")
	tell := func(job string, why error) {
		observer.Observe(scheduler.PauseEvent{Job: job, Err: why})
		observer.Observe(scheduler.ViewEvent{Job: job, Err: why})
	}
	tell("orders", nil) // it went on all the time
	for range 2 {
		tell("orders", why)
		tell("", why)
	}
	shown := func() [2]int64 {
		sums := sumsOf(t, reader)
		return [2]int64{sums["elasticron.job.paused"], sums["elasticron.view.blind"]}
	}
	require.Equal(t, [2]int64{2, 2}, shown())
	tell("orders", nil)
	tell("orders", nil)
	require.Equal(t, [2]int64{1, 1}, shown())
}

// What was said of how things are is taken back with the job, and with the scheduler.
func TestWhatIsOver(t *testing.T) {
	t.Parallel()
	reader := metric.NewManualReader()
	observer, err := otel.New(otel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))))
	require.NoError(t, err)
	why := errors.New("no permission")
	observer.Observe(scheduler.ConnectionEvent{Change: scheduler.ConnectionEstablished})
	for _, name := range []string{"orders", "bills"} {
		observer.Observe(scheduler.ItemEvent{Context: job.ShardingContext{JobName: name, Source: job.Manual}})
		observer.Observe(scheduler.WaitingEvent{Job: name, Waiting: 1})
		observer.Observe(scheduler.LeadershipEvent{Job: name, Leading: true})
		observer.Observe(scheduler.PauseEvent{Job: name, Err: why})
		observer.Observe(scheduler.ViewEvent{Job: name, Err: why})
	}
	requireJobs := func(want int64) {
		t.Helper()
		sums := sumsOf(t, reader)
		for _, name := range []string{"executions.running", "executions.waiting", "leader", "job.paused", "view.blind"} {
			require.Equal(t, want, sums["elasticron."+name], name)
		}
	}
	requireJobs(2)
	observer.Observe(scheduler.LeftEvent{Job: "orders"})
	requireJobs(1)
	require.Equal(t, int64(1), sumsOf(t, reader)["elasticron.session.connected"])
	observer.Observe(scheduler.EndEvent{})
	requireJobs(0)
	require.Zero(t, sumsOf(t, reader)["elasticron.session.connected"])
}

// A clock that is set back while something runs takes nothing from what was measured before.
func TestAClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	reader, now := metric.NewManualReader(), time.Now()
	observer, err := otel.New(otel.WithMeterProvider(metric.NewMeterProvider(metric.WithReader(reader))))
	require.NoError(t, err)
	e := scheduler.ItemEvent{Context: job.ShardingContext{JobName: "orders", Source: job.Scheduled, Fire: now}, Began: now.Add(-time.Hour)}
	observer.Observe(e)
	e.Ended = now.Add(-2 * time.Hour)
	observer.Observe(e)
	observer.Observe(scheduler.RoundEvent{Job: "orders", Began: e.Began, Ended: e.Ended})
	var data metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &data))
	measured := 0
	for _, m := range data.ScopeMetrics[0].Metrics {
		if d, is := m.Data.(metricdata.Histogram[float64]); is {
			for _, p := range d.DataPoints {
				require.Zero(t, p.Sum, m.Name)
				measured += int(p.Count)
			}
		}
	}
	require.Equal(t, 3, measured)
}

// A round is a trace, its items are spans in it, and what their code traces belongs to those.
func TestSpansAndMetricsOfAScheduler(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		spans := tracetest.NewSpanRecorder()
		tracers := trace.NewTracerProvider(trace.WithSpanProcessor(spans))
		reader := metric.NewManualReader()
		meters := metric.NewMeterProvider(metric.WithReader(reader))
		observer, err := otel.New(otel.WithTracerProvider(tracers), otel.WithMeterProvider(meters))
		require.NoError(t, err)
		reg := memory.NewServer().Open("test")
		s, err := scheduler.New(reg, scheduler.WithObserver(observer))
		require.NoError(t, err)
		cfg := job.Config{Name: "orders", Cron: "5 * * * * ?", ShardingTotalCount: 2}
		cfg.Retries, cfg.MaxConcurrentItems = 1, 1
		_, err = s.Add(t.Context(), cfg, job.HandlerFunc(func(ctx context.Context, sc job.ShardingContext) error {
			_, span := tracers.Tracer("shop").Start(ctx, "work")
			defer span.End()
			time.Sleep(time.Second)
			return []error{nil, errors.New("out of stock")}[sc.Item]
		}))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- s.Run(ctx) }()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		sums := sumsOf(t, reader)
		for name, want := range map[string]int64{
			"elasticron.running": 1, "elasticron.session.held": 1, "elasticron.session.connected": 1, "elasticron.leader": 1,
			"elasticron.items": 2, "elasticron.items.failed": 1, "elasticron.items.overdue": 0, "elasticron.job.instances": 1,
		} {
			require.Contains(t, sums, name)
			require.Equal(t, want, sums[name], name)
		}

		named := func(name string) []trace.ReadOnlySpan {
			return slices.DeleteFunc(spans.Ended(), func(s trace.ReadOnlySpan) bool { return s.Name() != name })
		}
		rounds, items, work := named("orders round"), named("orders item"), named("work")
		require.Len(t, rounds, 1)
		require.Len(t, items, 2)
		require.Len(t, work, 3, "one of them was tried twice")
		require.False(t, rounds[0].Parent().IsValid())
		require.Equal(t, codes.Error, rounds[0].Status().Code)
		ids := make(map[api.SpanID]bool)
		for _, item := range items {
			ids[item.SpanContext().SpanID()] = true
			require.Equal(t, rounds[0].SpanContext().SpanID(), item.Parent().SpanID())
			require.Equal(t, rounds[0].SpanContext().TraceID(), item.SpanContext().TraceID())
		}
		for _, w := range work {
			require.True(t, ids[w.Parent().SpanID()], "work belongs to an item")
		}
		require.Equal(t, time.Second, items[0].EndTime().Sub(items[0].StartTime()))
		require.Equal(t, codes.Unset, items[0].Status().Code)
		require.Equal(t, "out of stock", items[1].Status().Description)
		require.Equal(t, "retry", items[1].Events()[1].Name)

		cancel()
		require.NoError(t, <-done)
		require.NoError(t, reg.Close(context.Background()))
		require.Equal(t, map[string]int64{
			"elasticron.executions": 2, "elasticron.executions.running": 0, "elasticron.executions.waiting": 0,
			"elasticron.execution.duration": 2, "elasticron.execution.lateness": 2, "elasticron.execution.retries": 1,
			"elasticron.round.duration": 1, "elasticron.leader": 0, "elasticron.elections": 1, "elasticron.reshardings": 1,
			"elasticron.items.moved": 2, "elasticron.session.connected": 0, "elasticron.session.changes": 1,
			"elasticron.overloaded": 0, "elasticron.running": 0,
		}, sumsOf(t, reader))
	})
}

// What made room as it was told to is no error of its span or its round. What failed beside it is.
func TestSpansOfWhatMadeRoom(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		beside error
		want   codes.Code
	}{
		"alone":            {nil, codes.Unset},
		"beside a failure": {errors.New("out of stock"), codes.Error},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spans, now := tracetest.NewSpanRecorder(), time.Now()
			observer, err := otel.New(otel.WithTracerProvider(trace.NewTracerProvider(trace.WithSpanProcessor(spans))))
			require.NoError(t, err)
			round := scheduler.RoundEvent{ID: "r", Job: "orders", Items: []int{0, 1}, Began: now}
			observer.Observe(round)
			failed := map[int]error{0: job.ErrYielded}
			if test.beside != nil {
				failed[1] = test.beside
			}
			for item := range 2 {
				e := scheduler.ItemEvent{Round: "r", Context: job.ShardingContext{JobName: "orders", Item: item}, Began: now}
				observer.Observe(e)
				e.Ended, e.Err, e.CutShort = now, failed[item], item == 0
				observer.Observe(e)
			}
			round.Ended, round.Failed = now, failed
			observer.Observe(round)
			ended := spans.Ended()
			require.Len(t, ended, 3)
			require.Equal(t, codes.Unset, ended[0].Status().Code)
			require.Contains(t, ended[0].Attributes(), attribute.String("elasticron.outcome", "interrupted"))
			require.Equal(t, "interrupted", ended[0].Events()[0].Name)
			require.Equal(t, test.want, ended[1].Status().Code)
			require.Equal(t, test.want, ended[2].Status().Code, "the round")
		})
	}
}

// sumsOf returns what is counted by now, over all attributes; of a histogram how many values it has.
func sumsOf(t *testing.T, reader metric.Reader) map[string]int64 {
	t.Helper()
	var data metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(context.Background(), &data))
	sums := make(map[string]int64)
	for _, m := range data.ScopeMetrics[0].Metrics {
		switch d := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range d.DataPoints {
				sums[m.Name] += p.Value
			}
		case metricdata.Gauge[int64]:
			for _, p := range d.DataPoints {
				sums[m.Name] += p.Value
			}
		case metricdata.Gauge[float64]:
			for _, p := range d.DataPoints {
				sums[m.Name] += int64(p.Value)
			}
		case metricdata.Histogram[float64]:
			for _, p := range d.DataPoints {
				sums[m.Name] += int64(p.Count)
			}
		}
	}
	return sums
}

func TestOptionsThatAreNotAllowed(t *testing.T) {
	t.Parallel()
	_, err := otel.New(otel.WithTracerProvider(nil), otel.WithMeterProvider(nil))
	require.ErrorIs(t, err, otel.ErrInvalidOption)
	require.EqualError(t, err, "invalid option: tracer provider is nil\ninvalid option: meter provider is nil")
}
