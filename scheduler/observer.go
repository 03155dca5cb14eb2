package scheduler

import "context"

// Observer hears what the scheduler did. Each observer is called on a goroutine of its own, one call at a
// time, in the order of what happened, a moment after it: nothing waits for an observer. One that cannot
// keep up misses what comes while 65536 events wait for it, and one that hangs misses the rest; the log
// counts that. Before Run returns, each hears what is left, if it takes no longer than two seconds.
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
type ItemContext interface {
	ItemContext(ctx context.Context, e ItemEvent) context.Context
}
