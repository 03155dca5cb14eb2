package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"runtime"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/job"
)

const (
	// observerBacklog is how many events wait for one observer at most. What comes beyond is not told.
	observerBacklog = 1 << 16
	// observerPatience is how long a call may take until an observer counts as one that hangs.
	observerPatience = 10 * time.Second
	// contextPatience is how long an item waits for the context that an observer makes for it.
	contextPatience = time.Second
)

const (
	observerPanicked = "observer panicked"
	observerHangs    = "observer does not return, what it should hear waits"
	observerMissed   = "observer is too slow, it does not hear everything"
)

// observers tells several observers of everything. Each has a queue and at most one goroutine of its own,
// so that none can hold up what it observes, or another one.
type observers struct {
	all []*hearer
}

// hearers returns one observer that stands for all of a scheduler's.
func hearers(s *Scheduler) *observers {
	o := &observers{all: make([]*hearer, len(s.observers))}
	for i, one := range s.observers {
		name := nameOf(one)
		o.all[i] = &hearer{
			observer: one, name: "observer " + name, quiet: make(chan struct{}),
			tell: func(level slog.Level, message string, err error) {
				line := repeats.Line{Level: level, Message: message, Cause: name, Kind: name, Attrs: []any{logObserver, name}}
				if err != nil {
					line.Cause += err.Error()
					line.Attrs = append(line.Attrs, logError, err)
				}
				s.repeats.Tell(line)
			},
		}
	}
	return o
}

// nameOf returns by which name logs and errors tell of an observer: its type, or if that says nothing the
// function that it is.
func nameOf(one Observer) string {
	if f, is := one.(ObserverFunc); is {
		if code := runtime.FuncForPC(reflect.ValueOf(f).Pointer()); code != nil {
			return code.Name()
		}
	}
	return fmt.Sprintf("%T", one)
}

// observe has every observer told.
func (o *observers) observe(e Event) {
	for _, h := range o.all {
		h.post(e)
	}
}

// hearer is one observer, to which calls are made one after the other, in the order of what happened. It
// has a goroutine only while there is something to tell.
type hearer struct {
	observer Observer
	name     string
	tell     func(level slog.Level, message string, err error) // the log

	mu      sync.Mutex
	queue   []Event // and among them what is asked, each a *contextRequest
	working bool
	since   time.Time // when the call that is under way began
	closed  bool
	quiet   chan struct{} // closed when nothing is left to be told and nothing more will be
}

// post has the observer told, unless too much waits already, and tells whether it did.
func (h *hearer) post(e Event) bool {
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return false
	}
	hangs := h.hangs(observerPatience)
	full := len(h.queue) >= observerBacklog
	if !full {
		h.queue = append(h.queue, e)
		if !h.working {
			h.working = true
			h.work()
		}
	}
	h.mu.Unlock()
	switch {
	case full:
		h.tell(slog.LevelError, observerMissed, nil)
	case hangs:
		h.tell(slog.LevelError, observerHangs, nil)
	}
	return !full
}

// hangs tells whether a call has been under way for so long. The caller holds mu.
func (h *hearer) hangs(long time.Duration) bool {
	return !h.since.IsZero() && time.Since(h.since) >= long
}

// work makes the calls that wait, on a goroutine of its own. One that panics, or ends the goroutine, is that
// observer's affair, and another goroutine goes on with what is left.
func (h *hearer) work() {
	job.Go(func() error {
		for e := h.next(); e != nil; e = h.next() {
			h.call(e)
		}
		return nil
	}, func(err error) {
		if err != nil {
			h.tell(slog.LevelError, observerPanicked, err)
			h.work()
		}
	})
}

func (h *hearer) call(e Event) {
	if request, is := e.(contextRequest); is {
		request.ask(h.observer)
		return
	}
	h.observer.Observe(e)
}

// next takes what the observer is to hear now; nil if the goroutine is to end.
func (h *hearer) next() Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == 0 {
		h.queue, h.working, h.since = nil, false, time.Time{}
		if h.closed {
			close(h.quiet)
		}
		return nil
	}
	e := h.queue[0]
	h.queue[0] = nil
	h.queue = h.queue[1:]
	h.since = time.Now()
	return e
}

// busy tells whether the observer has been in a call for a while.
func (h *hearer) busy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hangs(contextPatience)
}

// close takes no more calls, and waits for those that it has until enough. hang tells that one has not
// returned, untold how many were not made.
func (h *hearer) close(enough <-chan struct{}) (hang bool, untold int) {
	h.mu.Lock()
	if !h.closed {
		h.closed = true
		if !h.working {
			close(h.quiet)
		}
	}
	h.mu.Unlock()
	select {
	case <-h.quiet:
		return false, 0
	case <-enough:
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	untold = len(h.queue)
	h.queue = nil
	return h.working, untold
}

// closeObservers has the observers hear what is left to be told, for two last moments and not beyond the
// bound of the stop.
func (s *Scheduler) closeObservers() {
	ctx, cancel := context.WithTimeout(context.Background(), min(2*lastWords, s.curfew.moment(3*lastWords)))
	defer cancel()
	for _, h := range s.observer.all {
		hang, untold := h.close(ctx.Done())
		s.curfew.noteObserver(h.name, hang, untold)
	}
}

// busy names the observers that are in a call for a while.
func (o *observers) busy() []string {
	var all []string
	for _, h := range o.all {
		if h.busy() {
			all = append(all, h.name)
		}
	}
	return all
}

// itemContext returns what the context of an item's code is to be. It is for the goroutine of that code,
// which waits for each observer a moment, and not for one that hangs.
func (o *observers) itemContext(ctx context.Context, e ItemEvent) context.Context {
	for _, h := range o.all {
		if _, carries := h.observer.(ItemContext); carries && !h.busy() {
			ctx = h.itemContext(ctx, e)
		}
	}
	return ctx
}

// itemContext asks the observer once it has heard all that happened before.
func (h *hearer) itemContext(ctx context.Context, e ItemEvent) context.Context {
	made := make(chan context.Context, 1) // nobody may wait for the answer any more
	request := contextRequest{func(one Observer) {
		answer := ctx
		defer func() { made <- answer }() // also if there is none
		if carrier, carries := one.(ItemContext); carries {
			if ours := carrier.ItemContext(ctx, e); ours != nil {
				answer = ours
			}
		}
	}}
	if !h.post(request) {
		return ctx
	}
	timer := time.NewTimer(contextPatience)
	defer timer.Stop()
	select {
	case answer := <-made:
		return answer
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx
}

// contextRequest asks an observer for the context of an item's code. It waits in line with the events, of
// which it is none for anybody but the hearer.
type contextRequest struct{ ask func(Observer) }

func (contextRequest) event() {}
