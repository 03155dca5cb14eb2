package history

import "sync"

// queue holds events in order, up to a limit. The zero value needs a limit and a bell.
type queue struct {
	limit int
	bell  chan struct{} // of size 1: rings when the queue grew or was closed

	mu      sync.Mutex
	events  []Event
	posted  uint64
	dropped uint64
	closed  bool
}

// put adds an event, or counts it as dropped.
func (q *queue) put(e Event) {
	q.mu.Lock()
	q.posted++
	if q.closed || len(q.events) >= q.limit {
		q.dropped++
	} else {
		q.events = append(q.events, e)
	}
	q.mu.Unlock()
	q.ring()
}

func (q *queue) ring() {
	select {
	case q.bell <- struct{}{}:
	default: // it rings already
	}
}

// close ends the queue: it takes no more events.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.ring()
}

// take moves the oldest events into batch, which is to hold most at most.
func (q *queue) take(batch []Event, most int) []Event {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(most-len(batch), len(q.events))
	batch = append(batch, q.events[:n]...)
	clear(q.events[:n])
	q.events = q.events[n:]
	if len(q.events) == 0 {
		q.events = nil // what an outage made grow goes with its end
	}
	return batch
}

// discard forgets all events and tells how many those were.
func (q *queue) discard() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.events)
	q.events = nil
	return n
}

// state tells how many events wait, and whether no more come.
func (q *queue) state() (waiting int, closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.events), q.closed
}

// room tells how many events it takes now.
func (q *queue) room() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return 0
	}
	return q.limit - len(q.events)
}

// counts tells how many events were posted, and how many of them dropped.
func (q *queue) counts() (posted, dropped uint64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.posted, q.dropped
}
