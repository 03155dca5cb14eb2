package memory

// signal wakes one goroutine. Waking one that is already awake is remembered, once.
type signal chan struct{}

func newSignal() signal { return make(signal, 1) }

// wake never blocks, so it may be called under a lock.
func (s signal) wake() {
	select {
	case s <- struct{}{}:
	default:
	}
}
