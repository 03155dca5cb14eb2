package scheduler

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// awaited is what a stop waits for at some moment.
type awaited struct {
	until     time.Time
	listeners []string
	handlers  []string
	observers []string        // that are in a call for a while
	runners   map[string]bool // that were asked what they run
	answers   chan itemsOf
}

// itemsOf is a runner's answer.
type itemsOf struct {
	job   string
	items []int
}

// awaited looks what a stop waits for: items by job, listeners and error handlers. The runners answer when
// they come to it, about this moment.
func (s *Scheduler) awaited(runners []*runner) *awaited {
	a := &awaited{
		until: time.Now().Add(s.curfew.moment(0)), listeners: s.curfew.listening(), observers: s.observer.busy(),
		runners: make(map[string]bool), answers: make(chan itemsOf, len(runners)),
	}
	for _, r := range runners {
		if working, queued := r.failures.pending(); working+queued > 0 {
			a.handlers = append(a.handlers, fmt.Sprintf("%s (%d failures)", r.name, working+queued))
		}
		if !r.isDrained() && r.box.Post(func() { a.answers <- itemsOf{r.name, r.inCode()} }) {
			a.runners[r.name] = true
		}
	}
	return a
}

// tell logs it, and says nothing if it is nothing. Jobs whose runners do not answer wait for the registry.
// It returns at the latest when over is closed or after half a last moment.
func (a *awaited) tell(log *slog.Logger, level slog.Level, message string, over <-chan struct{}) {
	items := a.collect(over)
	silent := make([]string, 0, len(a.runners))
	for name := range a.runners {
		silent = append(silent, name)
	}
	attrs := []any{slog.Time("until", a.until)}
	for _, waits := range []struct {
		key   string
		names []string
	}{{"items", items}, {"listeners", a.listeners}, {"handlers", a.handlers}, {"observers", a.observers}, {"registry", silent}} {
		if len(waits.names) > 0 {
			slices.Sort(waits.names)
			attrs = append(attrs, slog.String(waits.key, list(waits.names)))
		}
	}
	if len(attrs) > 1 {
		log.Log(context.Background(), level, message, attrs...)
	}
}

// collect waits for the answers of the runners, and leaves those that gave none.
func (a *awaited) collect(over <-chan struct{}) (items []string) {
	timer := time.NewTimer(lastWords / 2)
	defer timer.Stop()
	for len(a.runners) > 0 {
		select {
		case answer := <-a.answers:
			delete(a.runners, answer.job)
			if len(answer.items) > 0 {
				items = append(items, fmt.Sprintf("%s %v", answer.job, answer.items))
			}
		case <-timer.C:
			return items
		case <-over:
			a.runners = nil
		}
	}
	return items
}

// inCode returns the items whose code was called here and has not returned.
func (r *runner) inCode() []int {
	var items []int
	for n, it := range r.items {
		if e := it.running; e != nil && e.started && !e.returned {
			items = append(items, n)
		}
	}
	slices.Sort(items)
	return items
}
