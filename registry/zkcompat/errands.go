package zkcompat

import "sync"

// errands are goroutines that outlive the call that started them, until the handle is closed.
type errands struct {
	mu     sync.Mutex
	closed bool
	wg     sync.WaitGroup
}

// start runs a function, unless the handle is closed; then it is false.
func (e *errands) start(run func()) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.wg.Go(run)
	return true
}

// close returns when none is left.
func (e *errands) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.wg.Wait()
}
