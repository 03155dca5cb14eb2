package simulation_test

import "sync"

// gate stops the user code of a process that stands still, which a handle on the registry cannot.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // closed while the process runs
	shut   chan struct{} // closed while it stands still
}

func newGate() *gate {
	g := &gate{opened: make(chan struct{}), shut: make(chan struct{})}
	close(g.opened)
	return g
}

func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = make(chan struct{})
	close(g.shut)
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = make(chan struct{})
	close(g.opened)
}

// channels returns one that is closed while the process runs and one that is while it stands still.
func (g *gate) channels() (opened, shut <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened, g.shut
}
