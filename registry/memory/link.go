package memory

import (
	"context"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// link is the connection of one handle with the server, and the clock of its process. No lock is
// held while anything waits.
type link struct {
	base backend.SessionClock

	mu       sync.Mutex
	cut      bool // the network hangs
	down     bool // the server is stopped
	paused   bool // the process stands still
	pausedAt time.Duration
	latency  time.Duration // one way
	spread   spread        // of what happens in one instant
	delays   func(Message) time.Duration
	stalled  []func()      // requests that are under way and wait for the network
	changed  chan struct{} // closed and replaced at every change
	gone     bool          // the handle ended; nothing is held up any more
}

func newLink(s settings) *link {
	return &link{
		base: backend.NewClock(), latency: s.latency, spread: spread(s.spread), delays: s.delays, changed: make(chan struct{}),
	}
}

// set changes the link, tells everybody who waits for a change, and lets stalled requests arrive if
// they can now.
func (l *link) set(change func(l *link)) {
	l.mu.Lock()
	change(l)
	close(l.changed)
	l.changed = make(chan struct{})
	var arriving []func()
	if l.open() {
		arriving, l.stalled = l.stalled, nil
	}
	l.mu.Unlock()
	for _, serve := range arriving {
		serve()
	}
}

// open tells whether the network carries anything. The caller holds mu.
func (l *link) open() bool { return !l.cut && !l.down && !l.gone }

// through tells whether a request sent now would be answered.
func (l *link) through() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open() && !l.paused
}

// clock is the clock of the process's sessions. A process that stands still does not see it move,
// and finds on going on that it did.
func (l *link) clock() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paused {
		return l.pausedAt
	}
	return l.base()
}

// await returns when the process runs and the network is there, or with the context's cause. A
// process that stands still does not notice that a context ends.
func (l *link) await(ctx context.Context) error {
	for {
		l.mu.Lock()
		changed, through, paused := l.changed, l.open(), l.paused && !l.gone
		l.mu.Unlock()
		switch {
		case paused:
			<-changed
			continue
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case through:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// thaw waits while the process stands still. What was held up goes on one after the other.
func (l *link) thaw(about string) {
	for stood := false; ; stood = true {
		l.mu.Lock()
		changed, paused := l.changed, l.paused && !l.gone
		l.mu.Unlock()
		if !paused {
			if stood {
				time.Sleep(l.spread.of("thawed " + about))
			}
			return
		}
		<-changed
	}
}

// carry brings a request to the server, has it served there, and returns when the answer is back. If
// the context ends before that, the request may still arrive, even later. What the request is about
// sets it apart from others that are sent in the same instant.
func (l *link) carry(ctx context.Context, about string, serve func()) error {
	return l.carryTo(ctx, about, func(done func()) { serve(); done() })
}

// carryTo is carry for a request that the server answers when it has done it. A commit names its
// transactions.
func (l *link) carryTo(ctx context.Context, about string, serve func(done func()), txns ...registry.Txn) error {
	defer l.thaw(about)
	served := make(chan struct{})
	l.send(Message{Kind: Request, About: about, Txns: txns}, func() { serve(func() { close(served) }) })
	select {
	case <-served:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if err := sleep(ctx, l.delay(Message{Kind: Answer, About: "answer to " + about, Txns: txns})); err != nil {
		return err
	}
	return l.receive(ctx, about)
}

// receive waits until a message can come in. Those that were held up come in one after the other.
func (l *link) receive(ctx context.Context, about string) error {
	before := l.base()
	err := l.await(ctx)
	if err == nil && l.base() > before {
		return sleep(ctx, l.spread.of("received "+about))
	}
	return err
}

// send lets a request travel, and returns at once.
func (l *link) send(m Message, serve func()) {
	delay := l.delay(m)
	if delay == 0 {
		l.arrive(serve)
		return
	}
	time.AfterFunc(delay, func() { l.arrive(serve) })
}

// arrive has a request served that was sent, be its sender dead by now, or keeps it for the network.
func (l *link) arrive(serve func()) {
	l.mu.Lock()
	through := !l.cut && !l.down
	if !through && !l.gone {
		l.stalled = append(l.stalled, serve)
	}
	l.mu.Unlock()
	if through {
		serve()
	}
}

// delay returns how long a message takes, one way.
func (l *link) delay(m Message) time.Duration {
	l.mu.Lock()
	delay := l.latency + l.spread.of(m.About)
	l.mu.Unlock()
	if l.delays != nil {
		delay += l.delays(m)
	}
	return delay
}

// sleep waits for a duration, or returns the context's cause.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
