package otel

import (
	"context"
	"errors"
	"sync"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

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

// Observer is an observer of one scheduler. Its methods are safe for concurrent use and do not block.
type Observer struct {
	tracer trace.Tracer
	instruments

	mu     sync.Mutex
	rounds map[string]*round // that are open, by id
	queues map[string]int    // items that wait for their turn, by job
	pauses map[string]bool   // jobs that pause
	blinds map[string]bool   // jobs that cannot be followed; "" is the list of jobs
}

var (
	_ scheduler.Observer    = (*Observer)(nil)
	_ scheduler.ItemContext = (*Observer)(nil)
)

// New makes an observer. The error is [ErrInvalidOption], with all faults of the options, or says which instrument
// the meter provider refused.
func New(opts ...Option) (*Observer, error) {
	o := options{tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}
	var faults []error
	for _, set := range opts {
		faults = append(faults, set(&o))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	i, err := newInstruments(o.meters.Meter(scope))
	if err != nil {
		return nil, err
	}
	return &Observer{tracer: o.tracers.Tracer(scope), instruments: i, rounds: make(map[string]*round), queues: make(map[string]int), pauses: make(map[string]bool), blinds: make(map[string]bool)}, nil
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
	}
}

func (o *Observer) leadershipChanged(e scheduler.LeadershipEvent) {
	change := "lost"
	if e.Leading {
		change = "gained"
	}
	o.leadership.Add(context.Background(), 1, metric.WithAttributes(attrJob.String(e.Job), attrChange.String(change)))
}

func (o *Observer) jobPaused(e scheduler.PauseEvent) {
	o.paused.Add(context.Background(), o.turn(o.pauses, e.Job, e.Err != nil), metric.WithAttributes(attrJob.String(e.Job)))
}

func (o *Observer) viewChanged(e scheduler.ViewEvent) {
	o.blind.Add(context.Background(), o.turn(o.blinds, e.Job, e.Err != nil), metric.WithAttributes(attrJob.String(e.Job)))
}

// turn notes whether a job is one of a set, and returns by how many the set has grown.
func (o *Observer) turn(set map[string]bool, job string, in bool) int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case in && !set[job]:
		set[job] = true
		return 1
	case !in && set[job]:
		delete(set, job)
		return -1
	}
	return 0
}

func (o *Observer) itemsWaiting(e scheduler.WaitingEvent) {
	o.mu.Lock()
	more := e.Waiting - o.queues[e.Job]
	o.queues[e.Job] = e.Waiting
	o.mu.Unlock()
	o.waiting.Add(context.Background(), int64(more), metric.WithAttributes(attrJob.String(e.Job)))
}

func (o *Observer) loadChanged(e scheduler.LoadEvent) {
	for fate, fires := range map[string]int64{"wanted": e.Wanted, "begun": e.Begun, "dropped": e.Dropped} {
		o.load.Add(context.Background(), fires, metric.WithAttributes(attrFate.String(fate)))
	}
}

func (o *Observer) handlerFailed(e scheduler.ErrorHandlerEvent) {
	o.handlers.Add(context.Background(), 1, metric.WithAttributes(attrJob.String(e.Context.JobName)))
}

func (o *Observer) resharded(e scheduler.ReshardEvent) {
	o.moved.Add(context.Background(), int64(e.Moved), metric.WithAttributes(attrJob.String(e.Job)))
}

func (o *Observer) connectionChanged(e scheduler.ConnectionEvent) {
	o.session.Add(context.Background(), 1, metric.WithAttributes(attrChange.String(string(e.Change))))
}

func (o *Observer) barrierSettled(e scheduler.WholeRoundEvent) {
	o.barriers.Add(context.Background(), 1,
		metric.WithAttributes(attrJob.String(e.Job), attrPhase.String(e.Phase), attrOutcome.String(e.Outcome)))
}

func (o *Observer) listenerFailed(e scheduler.ListenerEvent) {
	o.listeners.Add(context.Background(), 1, metric.WithAttributes(attrJob.String(e.Job), attrListener.String(e.Listener)))
}
