package stopping

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"
)

// Awaited is what a stop waits for at some moment.
type Awaited struct {
	Until     time.Time // the curfew
	Listeners []string
	Handlers  []string
	Observers []string // that are in a call for a while

	// Late is that they were asked before, and nobody knew of anything. Most leave at once; if still nobody knows of
	// anything, those that are not done wait for the registry, whatever for.
	Late bool

	runners map[string]bool        // that were asked what they run
	drained map[string]func() bool // whether nothing is left to be done of a job, of those that were asked
	answers chan itemsOf
}

// itemsOf is a runner's answer.
type itemsOf struct {
	job   string
	items []int
	waits bool
}

// NewAwaited makes one for so many runners.
func NewAwaited(runners int) *Awaited {
	return &Awaited{runners: make(map[string]bool), drained: make(map[string]func() bool), answers: make(chan itemsOf, runners)}
}

// Ask asks a job's runner which items run, and whether it still has something to tell the registry. post hands it
// the question; the runner answers once, when it comes to it. drained tells at any time whether nothing of the job is left
// to be done.
func (a *Awaited) Ask(job string, drained func() bool, post func(answer func(items []int, waits bool))) {
	a.runners[job], a.drained[job] = true, drained
	post(func(items []int, waits bool) { a.answers <- itemsOf{job, items, waits} })
}

// Tell logs what is waited for, and says nothing if it is nothing. Jobs whose runners do not answer wait for the
// registry, too. It returns at the latest when over is closed or after half a last moment, and tells whether it said
// anything.
func (a *Awaited) Tell(log *slog.Logger, level slog.Level, message string, over <-chan struct{}) (told bool) {
	items, registry := a.collect(over)
	attrs := []any{slog.Time("until", a.Until)}
	for _, waits := range []struct {
		key   string
		names []string
	}{{"items", items}, {"listeners", a.Listeners}, {"handlers", a.Handlers}, {"observers", a.Observers}, {"registry", registry}} {
		if len(waits.names) > 0 {
			slices.Sort(waits.names)
			attrs = append(attrs, slog.String(waits.key, list(waits.names)))
		}
	}
	if len(attrs) > 1 {
		log.Log(context.Background(), level, message, attrs...)
	}
	return len(attrs) > 1
}

// collect waits for the answers of the runners. It returns what runs, and the jobs that wait for the registry.
func (a *Awaited) collect(over <-chan struct{}) (items, registry []string) {
	timer := time.NewTimer(LastWords / 2)
	defer timer.Stop()
	for len(a.runners) > 0 {
		select {
		case answer := <-a.answers:
			delete(a.runners, answer.job)
			switch {
			case len(answer.items) > 0:
				items = append(items, fmt.Sprintf("%s %v", answer.job, answer.items))
			case answer.waits:
				registry = append(registry, answer.job)
			}
		case <-timer.C:
			return items, slices.AppendSeq(registry, maps.Keys(a.runners))
		case <-over:
			return items, registry
		}
	}
	if a.Late && len(items)+len(registry)+len(a.Listeners)+len(a.Handlers)+len(a.Observers) == 0 {
		for job, drained := range a.drained {
			if !drained() {
				registry = append(registry, job)
			}
		}
	}
	return items, registry
}

// namesToLog is how many names one log record lists.
const namesToLog = 20

// list joins names for a log record, not more than can be read.
func list(names []string) string {
	if more := len(names) - namesToLog; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:namesToLog], ", "), more)
	}
	return strings.Join(names, ", ")
}
