package proxy

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// retransmit is how long a stream stands still when a packet of it is lost: what Linux waits at least
// before it sends one again. Each time that it is lost again, it waits for twice as long.
const retransmit = 200 * time.Millisecond

// mostAgain bounds how long a stream stands still for packets that are lost again and again. What is lost together is sent
// again together, so a busy connection does not stand still for longer than others.
const mostAgain = 8 * retransmit

// Network is what happens between clients and their server. The zero Network lets everything pass. Its
// methods may be called concurrently; what they change counts for connections that are open, too.
type Network struct {
	mu      sync.Mutex
	cut     [directions]bool
	delay   time.Duration
	loss    float64
	changed chan struct{} // closed and replaced by every change; nil until somebody waits
	sought  map[string]chan struct{}
}

// A direction is one of the two ways that bytes go.
type direction int

const (
	up         direction = iota // from the client to the server
	down                        // from the server to the client
	directions = 2
)

// Cut makes the network hang: connections stay open, nothing gets through in either direction.
func (n *Network) Cut() { n.set(func() { n.cut = [directions]bool{true, true} }) }

// CutUp swallows what clients send, and CutDown what the server sends. The other way stays open, and
// what [Network.Cut] closed of it opens.
func (n *Network) CutUp() { n.set(func() { n.cut = [directions]bool{up: true} }) }

// CutDown is CutUp for what the server sends.
func (n *Network) CutDown() { n.set(func() { n.cut = [directions]bool{down: true} }) }

// Heal ends a cut, whole or in one direction. What was under way when it began arrives now.
func (n *Network) Heal() { n.set(func() { n.cut = [directions]bool{} }) }

// Delay makes everything arrive later by this much. 0 ends that.
func (n *Network) Delay(d time.Duration) { n.set(func() { n.delay = d }) }

// Lose makes a share of what is sent arrive late as a lost packet does: what comes after it on the same
// connection waits until it was sent again. 0 ends that.
func (n *Network) Lose(share float64) { n.set(func() { n.loss = share }) }

// Sees returns a channel that is closed when a text is sent from now on, in either direction: also while
// it is held back by a cut. The text must have at most 1 KiB.
func (n *Network) Sees(text string) <-chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.sought == nil {
		n.sought = make(map[string]chan struct{})
	}
	if n.sought[text] == nil {
		n.sought[text] = make(chan struct{})
	}
	return n.sought[text]
}

// note looks for what is sought in what was sent last on a connection.
func (n *Network) note(sent []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for text, seen := range n.sought {
		if bytes.Contains(sent, []byte(text)) {
			close(seen)
			delete(n.sought, text)
		}
	}
}

func (n *Network) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
	if n.changed != nil {
		close(n.changed)
		n.changed = nil
	}
}

// pass waits while the network is cut in a direction. It is false when ctx ended.
func (n *Network) pass(ctx context.Context, d direction) bool {
	for {
		n.mu.Lock()
		cut := n.cut[d]
		if n.changed == nil {
			n.changed = make(chan struct{})
		}
		changed := n.changed
		n.mu.Unlock()
		if !cut {
			return ctx.Err() == nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false
		}
	}
}

// transit draws how long something that is sent now is under way, and whether the rest of its
// connection has to wait for it.
func (n *Network) transit() (delay, stall time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for again := retransmit; rand.Float64() < n.loss && again < mostAgain; again *= 2 {
		stall += again
	}
	return n.delay, stall
}
