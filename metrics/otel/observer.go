package otel

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/elasticron/elasticron/internal/option"
	"github.com/elasticron/elasticron/metrics/internal/catalog"
	"github.com/elasticron/elasticron/scheduler"
)

// scope names this instrumentation.
const scope = "github.com/elasticron/elasticron/metrics/otel"

// Attributes of spans and metrics.
const (
	attrJob      = attribute.Key("elasticron.job")
	attrRound    = attribute.Key("elasticron.round")
	attrItem     = attribute.Key("elasticron.item")
	attrItems    = attribute.Key("elasticron.items")
	attrSource   = attribute.Key("elasticron.source")
	attrFire     = attribute.Key("elasticron.fire")
	attrToken    = attribute.Key("elasticron.token")
	attrOutcome  = attribute.Key("elasticron.outcome")
	attrChange   = attribute.Key("elasticron.change")
	attrFate     = attribute.Key("elasticron.fate")
	attrPhase    = attribute.Key("elasticron.phase")
	attrListener = attribute.Key("elasticron.listener")
)

// Observer is an observer of one scheduler, and of another one when that has ended. Of two at a time it would add up what they
// count, and tell how things are in the one made last alone: nothing keeps you from that. Its MeterProvider keeps it: make one
// for all schedulers that run in turn, and not one for each. Its methods are safe for concurrent use and do not block.
type Observer struct {
	tracer trace.Tracer
	instruments
	states

	mu     sync.Mutex
	rounds map[string]*round // that are open, by id
	report catalog.Reporter  // nil before there is a scheduler
}

var (
	_ scheduler.Observer       = (*Observer)(nil)
	_ scheduler.ItemContext    = (*Observer)(nil)
	_ scheduler.HealthObserver = (*Observer)(nil)
)

// New makes an observer. The error is [ErrInvalidOption], with all faults of the options, or says which instrument
// the meter provider refused.
func New(opts ...Option) (*Observer, error) {
	o := options{tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}
	faults := option.Apply(&o, opts)
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	meter := o.meters.Meter(scope)
	i, err := newInstruments(meter)
	if err != nil {
		return nil, err
	}
	observer := &Observer{tracer: o.tracers.Tracer(scope), instruments: i, states: statesOf(i), rounds: make(map[string]*round)}
	if err := observer.observeReports(meter); err != nil {
		return nil, err
	}
	i.connected.Record(context.Background(), 0) // there from the start
	i.overloaded.Record(context.Background(), 0)
	return observer, nil
}

// Observe implements [scheduler.Observer].
func (o *Observer) Observe(event scheduler.Event) {
	switch e := event.(type) {
	case scheduler.RoundEvent:
		if e.Over() {
			o.roundEnded(e)
		} else {
			o.roundBegan(e)
		}
	case scheduler.ItemEvent:
		if e.Over() {
			o.itemEnded(e)
		} else {
			o.itemStarted(e)
		}
	case scheduler.RetryEvent:
		o.itemRetrying(e)
	case scheduler.WaitingEvent:
		o.itemsWaiting(e)
	case scheduler.ErrorHandlerEvent:
		o.handlerFailed(e)
	case scheduler.ViewEvent:
		o.viewChanged(e)
	case scheduler.LeadershipEvent:
		o.leadershipChanged(e)
	case scheduler.PauseEvent:
		o.jobPaused(e)
	case scheduler.ReshardEvent:
		o.resharded(e)
	case scheduler.ConnectionEvent:
		o.connectionChanged(e)
	case scheduler.WholeRoundEvent:
		o.barrierSettled(e)
	case scheduler.LoadEvent:
		o.loadChanged(e)
	case scheduler.ListenerEvent:
		o.listenerFailed(e)
	case scheduler.LeftEvent:
		o.jobLeft(e)
	case scheduler.EndEvent:
		o.schedulerEnded()
	}
}

func (o *Observer) leadershipChanged(e scheduler.LeadershipEvent) {
	o.leads.set(e.Job, truth(e.Leading))
	if e.Leading {
		o.elections.Add(context.Background(), 1, ofJob(e.Job))
	}
}

func (o *Observer) jobPaused(e scheduler.PauseEvent) {
	o.pauses.set(e.Job, truth(e.Err != nil))
}

func (o *Observer) viewChanged(e scheduler.ViewEvent) {
	o.unseen.set(e.Job, truth(e.Err != nil))
}

func (o *Observer) itemsWaiting(e scheduler.WaitingEvent) {
	o.waits.set(e.Job, int64(e.Waiting))
}

func (o *Observer) loadChanged(e scheduler.LoadEvent) {
	o.overloaded.Record(context.Background(), truth(e.Overloaded))
	for fate, fires := range map[string]int64{"wanted": e.Wanted, "begun": e.Begun, "dropped": e.Dropped} {
		o.overloads.Add(context.Background(), fires, metric.WithAttributes(attrFate.String(fate)))
	}
}

func (o *Observer) handlerFailed(e scheduler.ErrorHandlerEvent) {
	o.handlers.Add(context.Background(), 1, ofJob(e.Context.JobName))
}

func (o *Observer) resharded(e scheduler.ReshardEvent) {
	o.reshardings.Add(context.Background(), 1, ofJob(e.Job))
	o.moved.Add(context.Background(), int64(e.Moved), ofJob(e.Job))
}

func (o *Observer) connectionChanged(e scheduler.ConnectionEvent) {
	connected := e.Change == scheduler.ConnectionEstablished || e.Change == scheduler.ConnectionBack
	o.connected.Record(context.Background(), truth(connected))
	o.session.Add(context.Background(), 1, metric.WithAttributes(attrChange.String(string(e.Change))))
}

func (o *Observer) barrierSettled(e scheduler.WholeRoundEvent) {
	o.barriers.Add(context.Background(), 1,
		metric.WithAttributes(attrJob.String(e.Job), attrPhase.String(e.Phase), attrOutcome.String(e.Outcome)))
}

func (o *Observer) listenerFailed(e scheduler.ListenerEvent) {
	o.listenerFailures.Add(context.Background(), 1, metric.WithAttributes(attrJob.String(e.Job), attrListener.String(e.Listener)))
}

// ofJob is the attribute of what is about a job.
func ofJob(name string) metric.MeasurementOption {
	return metric.WithAttributes(attrJob.String(name))
}

func truth(holds bool) int64 {
	if holds {
		return 1
	}
	return 0
}
