package notify

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/elasticron/elasticron/internal/protect"
)

const (
	// observerBacklog is how many events wait for one observer at most. What comes beyond is not told.
	observerBacklog = 1 << 16
	// observerPatience is how long a call may take until an observer counts as one that hangs.
	observerPatience = 10 * time.Second
	// contextPatience is how long an item waits for the context that an observer makes for it.
	contextPatience = time.Second
	// OneCall is how long each call of an observer may take at least before it is given up.
	OneCall = 100 * time.Millisecond
)

const (
	observerPanicked = "observer panicked"
	observerHangs    = "observer does not return, what it should hear waits"
	observerMissed   = "observer is too slow, it does not hear everything"
)

// Hearer is one observer, to which calls are made one after the other, in the order of what happened. It
// has a goroutine only while there is something to tell.
type Hearer[E any] struct {
	Name string                                            // in logs and errors
	Hear func(E)                                           // the observer
	Tell func(level slog.Level, message string, err error) // the log

	mu      sync.Mutex
	queue   []entry[E]
	working bool
	since   time.Time // when the call that is under way began
	closed  bool
	quiet   chan struct{} // closed when nothing is left to be told and nothing more will be
}

// entry is what waits for an observer: an event, or a question.
type entry[E any] struct {
	event E
	ask   func() // nil for an event
}

// NewHearer makes one.
func NewHearer[E any](name string, hear func(E), tell func(level slog.Level, message string, err error)) *Hearer[E] {
	return &Hearer[E]{Name: name, Hear: hear, Tell: tell, quiet: make(chan struct{})}
}

// Post queues a call of the observer, unless too much waits already, and tells whether it did.
func (h *Hearer[E]) Post(event E) bool { return h.add(entry[E]{event: event}) }

func (h *Hearer[E]) add(e entry[E]) bool {
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
		h.Tell(slog.LevelError, observerMissed, nil)
	case hangs:
		h.Tell(slog.LevelError, observerHangs, nil)
	}
	return !full
}

// hangs tells whether a call has been under way for so long. The caller holds mu.
func (h *Hearer[E]) hangs(long time.Duration) bool {
	return !h.since.IsZero() && time.Since(h.since) >= long
}

// work makes the calls that wait, on a goroutine of its own. One that panics, or ends the goroutine, is that
// observer's affair, and another goroutine goes on with what is left.
func (h *Hearer[E]) work() {
	protect.Go(func() error {
		for e, more := h.next(); more; e, more = h.next() {
			if e.ask != nil {
				e.ask()
			} else {
				h.Hear(e.event)
			}
		}
		return nil
	}, func(err error) {
		if err != nil {
			h.Tell(slog.LevelError, observerPanicked, err)
			h.work()
		}
	})
}

// next takes what the observer is to hear now; more is false if the goroutine is to end.
func (h *Hearer[E]) next() (e entry[E], more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == 0 {
		h.queue, h.working, h.since = nil, false, time.Time{}
		if h.closed {
			close(h.quiet)
		}
		return e, false
	}
	e = h.queue[0]
	h.queue[0] = entry[E]{}
	h.queue = h.queue[1:]
	h.since = time.Now()
	return e, true
}

// Busy tells whether the observer has been in a call for a while.
func (h *Hearer[E]) Busy() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hangs(contextPatience)
}

// Close takes no more calls, and waits for those that it has until enough, and for one that is under way then until it has
// had the time of one call. hang tells that it has not returned, untold how many were not made.
func (h *Hearer[E]) Close(enough <-chan struct{}) (hang bool, untold int) {
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
	untold, h.queue = len(h.queue), nil
	left := OneCall
	if !h.since.IsZero() { // else its goroutine has not come to the first
		left -= time.Since(h.since)
	}
	h.mu.Unlock()
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-h.quiet:
		return false, untold
	case <-timer.C:
		return true, untold
	}
}

// Context returns what the observer makes of a context, once it has heard all that happened before. It is for a
// goroutine that may wait: it waits for a moment, while ctx lasts, and not at all for an observer that hangs.
// Then, and if the observer makes none, it returns ctx. What it returns ends when ctx does.
func (h *Hearer[E]) Context(ctx context.Context, makes func(context.Context) context.Context) context.Context {
	if h.Busy() {
		return ctx
	}
	made := make(chan context.Context, 1) // nobody may wait for the answer any more
	asked := h.add(entry[E]{ask: func() {
		answer := ctx
		defer func() { made <- answer }() // also if there is none
		if ours := makes(ctx); ours != nil {
			answer = carry(ctx, ours)
		}
	}})
	if !asked {
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
