package actor

import "sync"

// Event is something that happens once, and that others may wait for. It takes no channel before anybody waits, nor after
// it has happened: there may be thousands of jobs, with some events each. The zero Event has not happened. All methods may
// be called concurrently.
type Event struct {
	mu sync.Mutex
	c  chan struct{} // nil while nobody waits and it has not happened
}

// happened is the channel of all events that happened before anybody waited.
var happened = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Happen notes that the event has happened. Only the first call counts.
func (e *Event) Happen() {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.c == nil:
		e.c = happened
	case !e.has():
		close(e.c)
		e.c = happened // so that it takes no channel any more
	}
}

// Has tells whether the event has happened.
func (e *Event) Has() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.c != nil && e.has()
}

// has tells whether the channel is closed. The caller holds mu.
func (e *Event) has() bool {
	select {
	case <-e.c:
		return true
	default:
		return false
	}
}

// Done returns a channel that is closed when the event has happened.
func (e *Event) Done() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.c == nil {
		e.c = make(chan struct{})
	}
	return e.c
}
