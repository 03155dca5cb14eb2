package actor

import "sync"

// Mailbox makes a runner an actor: messages are carried out one after the other, on a goroutine that
// exists only while there are any, so an idle job costs none.
type Mailbox struct {
	Start func(func()) // starts a goroutine that the scheduler waits for
	After func()       // runs after each batch with a message that asks for it

	mu       sync.Mutex
	messages []message
	working  bool
	closed   bool
}

// message is one of two functions.
type message struct {
	do   func()      // asks for what runs after messages
	note func() bool // tells whether it does
}

// Post adds a message, and tells whether it did. It never blocks, and after Close it does nothing.
func (m *Mailbox) Post(do func()) bool { return m.add(message{do: do}) }

// PostNote is Post for a message that most often changes nothing that is to be decided upon.
func (m *Mailbox) PostNote(note func() (decide bool)) { m.add(message{note: note}) }

func (m *Mailbox) add(added message) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.messages = append(m.messages, added)
	if !m.working {
		m.working = true
		m.Start(m.work)
	}
	return true
}

// Close drops what is not carried out yet and all that comes later.
func (m *Mailbox) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	m.messages = nil
}

// Closed tells whether Close was called.
func (m *Mailbox) Closed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

func (m *Mailbox) work() {
	for {
		batch := m.take()
		if batch == nil {
			return
		}
		decide := false
		for _, message := range batch {
			switch {
			case m.Closed():
				decide = true
			case message.do != nil:
				message.do()
				decide = true
			default:
				decide = message.note() || decide
			}
		}
		if decide {
			m.After()
		}
	}
}

// take returns all messages, or nil when the goroutine is to end.
func (m *Mailbox) take() []message {
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
