package clustertest

import (
	"sync"
	"time"
)

// gate stops the code of a process that stands still, which its registry handle cannot.
type gate struct {
	mu      sync.Mutex
	opened  chan struct{} // closed while the process runs
	closed  chan struct{} // closed while it stands still
	opening *time.Timer   // set while the gate is about to open
}

func newGate() *gate {
	g := &gate{opened: make(chan struct{}), closed: make(chan struct{})}
	close(g.opened)
	return g
}

// shut shuts the gate, and tells whether it was open or about to be.
func (g *gate) shut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.opening != nil:
		g.opening.Stop()
		g.opening = nil
		return true
	case !g.open():
		return false
	}
	g.opened = make(chan struct{})
	close(g.closed)
	return true
}

// openSoon opens the gate a moment later, and tells whether it was shut: what the process finds on going on
// comes before what its code does.
func (g *gate) openSoon() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open() || g.opening != nil {
		return false
	}
	var timer *time.Timer
	timer = time.AfterFunc(time.Microsecond, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.opening == timer {
			g.opening, g.closed = nil, make(chan struct{})
			close(g.opened)
		}
	})
	g.opening = timer
	return true
}

// isShut tells whether the gate is shut and not about to open.
func (g *gate) isShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.open() && g.opening == nil
}

// open tells whether the gate is open. The caller holds mu.
func (g *gate) open() bool {
	select {
	case <-g.opened:
		return true
	default:
		return false
	}
}

// channels returns one that is closed while the process runs and one that is while it stands still.
func (g *gate) channels() (opened, closed <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened, g.closed
}
