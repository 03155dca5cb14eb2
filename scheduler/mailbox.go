package scheduler

import "sync"

// mailbox makes a runner an actor: messages are carried out one after the other, on a goroutine that
// exists only while there are any, so an idle job costs none.
type mailbox struct {
	start func(func()) // starts a goroutine that the scheduler waits for
	after func()       // runs after each batch of messages

	mu       sync.Mutex
	messages []func()
	working  bool
	closed   bool
}

// post adds a message, and tells whether it did. It never blocks, and after close it does nothing.
func (m *mailbox) post(message func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.messages = append(m.messages, message)
	if !m.working {
		m.working = true
		m.start(m.work)
	}
	return true
}

// close drops what is not carried out yet and all that comes later.
func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.messages = nil
}

func (m *mailbox) isClosed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

func (m *mailbox) work() {
	for {
		batch := m.take()
		if batch == nil {
			return
		}
		for _, message := range batch {
			if m.isClosed() {
				break
			}
			message()
		}
		m.after()
	}
}

// take returns all messages, or nil when the goroutine is to end.
func (m *mailbox) take() []func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	batch := m.messages
	m.messages = nil
	if len(batch) == 0 {
		m.working = false
		return nil
	}
	return batch
}
