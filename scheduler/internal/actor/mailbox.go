package actor

import (
	"runtime"
	"sync"
)

// Mailbox makes a runner an actor: messages are carried out one after the other, on a goroutine that
// exists only while there are any, so an idle job costs none.
type Mailbox struct {
	Of Actor

	mu       sync.Mutex
	messages []message
	working  bool
	closed   bool
	quiet    bool   // nobody works, and the lull may keep its notes
	lull     keeper // nil = none
}

// Actor is whose mailbox it is.
type Actor interface {
	// Start starts a goroutine that the scheduler waits for.
	Start(work func())
	// After runs after each batch with a message that asks for it.
	After()
	// Quiet tells, after each batch, whether notes of the mailbox's [Lull] may be kept until another message
	// comes. It is not asked if there is no Lull.
	Quiet() bool
}

// Plain is an actor of which nothing follows a batch. It starts goroutines.
type Plain func(work func())

// Start implements [Actor].
func (p Plain) Start(work func()) { p(work) }

// After implements [Actor].
func (Plain) After() {}

// Quiet implements [Actor].
func (Plain) Quiet() bool { return false }

// keeper is a [Lull] of any notes.
type keeper interface {
	// release returns the message that says what was kept; false if nothing was.
	release() (message, bool)
}

// message is one of two functions.
type message struct {
	do      func()      // asks for what runs after messages
	note    func() bool // a note of the [Lull], which most often changes nothing: it tells whether it does
	dropped func()      // is called in its place if it is not carried out any more; nil = nothing is
}

func (m message) drop() {
	if m.dropped != nil {
		m.dropped()
	}
}

// Post adds a message, and tells whether it did. It never blocks, and after Close it does nothing.
func (m *Mailbox) Post(do func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.add(message{do: do})
}

// PostElse is Post for a message that somebody waits for, or that holds something: if it is not carried out, because the
// mailbox is closed before, dropped is called in its place, which must not block. Exactly one of the two is called.
func (m *Mailbox) PostElse(do, dropped func()) {
	m.mu.Lock()
	added := m.add(message{do: do, dropped: dropped})
	m.mu.Unlock()
	if !added {
		dropped()
	}
}

// add adds a message behind what the lull has kept. The caller holds mu.
func (m *Mailbox) add(added message) bool {
	if m.closed {
		return false
	}
	if m.quiet {
		m.quiet = false
		if kept, any := m.lull.release(); any {
			m.messages = append(m.messages, kept)
		}
	}
	m.messages = append(m.messages, added)
	if !m.working {
		m.working = true
		m.Of.Start(m.work)
	}
	return true
}

// Close drops what is not carried out yet and all that comes later.
func (m *Mailbox) Close() {
	m.mu.Lock()
	late := m.messages
	m.closed, m.quiet, m.messages = true, false, nil
	m.mu.Unlock()
	for _, message := range late {
		message.drop()
	}
}

// Closed tells whether Close was called.
func (m *Mailbox) Closed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.closed
}

func (m *Mailbox) work() {
	makeRoom()
	for quiet := false; ; quiet = m.lull != nil && m.Of.Quiet() {
		batch := m.take(quiet)
		if batch == nil {
			return
		}
		decide := false
		for _, message := range batch {
			switch {
			case m.Closed():
				message.drop()
				decide = true
			case message.do != nil:
				message.do()
				decide = true
			default:
				decide = message.note() || decide
			}
		}
		if decide {
			m.Of.After()
		}
	}
}

// makeRoom gives a new goroutine at once the stack that a decision needs, which is up to 8 KiB. Else the runtime doubles
// the 2 KiB of it twice in the midst of one and copies them frame by frame: a fifth of the time that mailboxes work in a burst.
//
//go:noinline
func makeRoom() {
	var room [6 << 10]byte
	runtime.KeepAlive(&room)
}

// take returns all messages, or nil when the goroutine is to end. quiet tells whether the lull may keep notes then.
func (m *Mailbox) take(quiet bool) []message {
	m.mu.Lock()
	defer m.mu.Unlock()
	batch := m.messages
	m.messages = nil
	if len(batch) == 0 {
		m.working, m.quiet = false, quiet
		return nil
	}
	return batch
}
