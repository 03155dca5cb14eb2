package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"runtime"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
	"github.com/elasticron/elasticron/scheduler/internal/stopping"
)

// Observer hears what the scheduler did. Each observer is called on a goroutine of its own, one call at a
// time, in the order of what happened, a moment after it: nothing waits for an observer. One that cannot
// keep up misses what comes while 65536 events wait for it, and one that hangs misses the rest; the log
// counts that. Before Run returns, each hears what is left, if it takes no longer than two seconds, or than about half a
// second where the registry, or code that hangs, has used up what a stop may take.
type Observer interface {
	// Observe receives one event. [Event] lists the events that there are. An observer ignores those that it
	// does not care for.
	Observe(event Event)
}

// ObserverFunc is a function that is an [Observer].
type ObserverFunc func(Event)

// Observe calls f.
func (f ObserverFunc) Observe(event Event) { f(event) }

var _ Observer = ObserverFunc(nil)

// ItemContext is a second interface that an [Observer] may implement. It gives the context of an item's code
// something, such as the span of a trace. It is called as Observe is, after the observer has heard that
// the item started, and returns ctx or a context made of it. The item's code waits for that a second at
// most, and then runs without.
//
// The code gets the values of the context that is returned, and those of ctx that it does not have. When the code is to
// stop, and why, is up to ctx alone: an end or a deadline that the observer adds does not count.
type ItemContext interface {
	ItemContext(ctx context.Context, e ItemEvent) context.Context
}

// HealthObserver is another interface that an [Observer] may implement: [New] gives it the scheduler's
// [Scheduler.Health], once and before it returns. The observer may ask for a report whenever it likes, with a context
// that has a deadline: near the end of Run, a job's runner may not answer.
type HealthObserver interface {
	ObserveHealth(health func(context.Context) Health)
}

// observers tells several observers of everything. Each has a queue and at most one goroutine of its own,
// so that none can hold up what it observes, or another one.
type observers struct {
	all []hearer
}

// hearer is one observer.
type hearer struct {
	*notify.Hearer[Event]
	carries ItemContext // nil if it is none
}

// hearers returns one observer that stands for all of a scheduler's.
func hearers(s *Scheduler) *observers {
	o := &observers{all: make([]hearer, len(s.observers))}
	for i, one := range s.observers {
		name := nameOf(one)
		o.all[i].carries, _ = one.(ItemContext)
		o.all[i].Hearer = notify.NewHearer("observer "+name, one.Observe, func(level slog.Level, message string, err error) {
			line := repeats.Line{Level: level, Message: message, Cause: name, Kind: name, Attrs: []any{logObserver, name}}
			if err != nil {
				line.Cause += err.Error()
				line.Attrs = append(line.Attrs, logError, err)
			}
			s.repeats.Tell(line)
		})
	}
	return o
}

// nameOf returns the name of an observer in logs and errors: its type or, if the type says nothing, the
// function that it is.
func nameOf(one Observer) string {
	if f, is := one.(ObserverFunc); is {
		if code := runtime.FuncForPC(reflect.ValueOf(f).Pointer()); code != nil {
			return code.Name()
		}
	}
	return fmt.Sprintf("%T", one)
}

// observe passes an event to every observer.
func (o *observers) observe(e Event) {
	for i, h := range o.all {
		own := e
		if round, is := e.(RoundEvent); is && i < len(o.all)-1 { // an observer may change its own at once; the last one's was nobody's
			round.Failed = maps.Clone(round.Failed)
			own = round
		}
		h.Post(own)
	}
}

// closeObservers lets the observers hear what is left, for two last moments and not beyond the
// bound of the stop.
func (s *Scheduler) closeObservers() {
	bound := s.curfew.Moment(3*stopping.LastWords - notify.OneCall)
	ctx, cancel := context.WithTimeout(context.Background(), min(2*stopping.LastWords, bound))
	defer cancel()
	s.observer.observe(EndEvent{}) // before one is waited for that hangs
	for _, h := range s.observer.all {
		hang, untold := h.Close(ctx.Done())
		givenUp := 0
		if hang {
			givenUp = 1
		}
		s.curfew.Note(h.Name, givenUp, untold)
	}
}

// busy names the observers that are in a call for a while.
func (o *observers) busy() []string {
	var all []string
	for _, h := range o.all {
		if h.Busy() {
			all = append(all, h.Name)
		}
	}
	return all
}

// itemContext returns the context for an item's code. It is for the goroutine of that code,
// which waits for each observer a moment, and not for one that hangs.
func (o *observers) itemContext(ctx context.Context, e ItemEvent) context.Context {
	for _, h := range o.all {
		if h.carries != nil {
			ctx = h.itemContext(ctx, e)
		}
	}
	return ctx
}

func (h hearer) itemContext(ctx context.Context, e ItemEvent) context.Context {
	return h.Context(ctx, func(ctx context.Context) context.Context { return h.carries.ItemContext(ctx, e) })
}
