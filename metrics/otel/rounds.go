package otel

import (
	"cmp"
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticron/elasticron/job"
	"github.com/elasticron/elasticron/metrics/internal/catalog"
	"github.com/elasticron/elasticron/scheduler"
)

// round is a round whose spans are open.
type round struct {
	span        trace.Span
	items       map[int]trace.Span
	interrupted int // of the items; they are no failures
}

func (o *Observer) roundBegan(e scheduler.RoundEvent) {
	_, span := o.tracer.Start(context.Background(), e.Job+" round", trace.WithNewRoot(), trace.WithTimestamp(e.Began),
		trace.WithAttributes(attrJob.String(e.Job), attrRound.String(e.ID), attrItems.IntSlice(e.Items)))
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rounds[e.ID] = &round{span: span, items: make(map[int]trace.Span)}
}

// between is how many seconds lie between two times, and none if the clock was set back: instruments take nothing below 0.
func between(from, to time.Time) float64 { return max(0, to.Sub(from)).Seconds() }

func (o *Observer) roundEnded(e scheduler.RoundEvent) {
	o.round.Record(context.Background(), between(e.Began, e.Ended), ofJob(e.Job))
	o.mu.Lock()
	r := o.rounds[e.ID]
	delete(o.rounds, e.ID)
	o.mu.Unlock()
	if r == nil {
		return
	}
	if len(e.Failed) > r.interrupted {
		r.span.SetStatus(codes.Error, "items failed")
	}
	r.span.End(trace.WithTimestamp(e.Ended))
}

func (o *Observer) itemStarted(e scheduler.ItemEvent) {
	sc, ctx := e.Context, context.Background()
	o.runs.add(sc.JobName, 1)
	if sc.Source == job.Scheduled || sc.Source == job.Misfire {
		o.lateness.Record(ctx, between(sc.Fire, e.Began), ofJob(sc.JobName))
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	r := o.rounds[e.Round]
	if r == nil {
		return
	}
	_, r.items[sc.Item] = o.tracer.Start(trace.ContextWithSpan(ctx, r.span), sc.JobName+" item",
		trace.WithTimestamp(e.Began), trace.WithAttributes(itemAttributes(e)...))
}

func itemAttributes(e scheduler.ItemEvent) []attribute.KeyValue {
	sc := e.Context
	all := []attribute.KeyValue{
		attrJob.String(sc.JobName), attrRound.String(e.Round), attrItem.Int(sc.Item), attrSource.String(string(sc.Source)),
		attrToken.Int64(sc.Token),
	}
	if !sc.Fire.IsZero() {
		all = append(all, attrFire.String(sc.Fire.Format(time.RFC3339Nano)))
	}
	return all
}

// ItemContext implements [scheduler.ItemContext]: what the item's code does belongs to the item's span.
func (o *Observer) ItemContext(ctx context.Context, e scheduler.ItemEvent) context.Context {
	if span := o.spanOf(e.Round, e.Context.Item); span != nil {
		return trace.ContextWithSpan(ctx, span)
	}
	return ctx
}

func (o *Observer) spanOf(id string, item int) trace.Span {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.rounds[id]; r != nil {
		return r.items[item]
	}
	return nil
}

func (o *Observer) itemRetrying(e scheduler.RetryEvent) {
	o.retries.Add(context.Background(), 1, ofJob(e.Context.JobName))
	if span := o.spanOf(e.Round, e.Context.Item); span != nil {
		span.RecordError(e.Err)
		span.AddEvent("retry", trace.WithAttributes(attribute.String("elasticron.pause", e.Pause.String())))
	}
}

// interrupted notes that an item of a round was interrupted, so that the round is not said to have failed by it.
func (o *Observer) interrupted(round string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if r := o.rounds[round]; r != nil {
		r.interrupted++
	}
}

func (o *Observer) itemEnded(e scheduler.ItemEvent) {
	ctx, outcome, name := context.Background(), catalog.OutcomeOf(e), e.Context.JobName
	o.runs.add(name, -1)
	o.duration.Record(ctx, between(e.Began, e.Ended), ofJob(name))
	o.executions.Add(ctx, 1,
		metric.WithAttributes(attrJob.String(name), attrSource.String(string(e.Context.Source)), attrOutcome.String(outcome)))
	span := o.spanOf(e.Round, e.Context.Item)
	if span == nil {
		return
	}
	switch err := cmp.Or(e.Refused, e.Err); {
	case outcome == catalog.Interrupted:
		o.interrupted(e.Round)
		span.AddEvent("interrupted", trace.WithAttributes(attribute.String("elasticron.reason", err.Error())))
	case err != nil:
		span.RecordError(err)
		span.SetStatus(codes.Error, err.Error())
	}
	span.SetAttributes(attrOutcome.String(outcome))
	span.End(trace.WithTimestamp(e.Ended))
}
