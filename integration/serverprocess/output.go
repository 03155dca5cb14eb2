package serverprocess

import (
	"bytes"
	"sync"
)

// Output keeps what a process or a log writes, and may be read meanwhile. The zero Output is empty. It must not be
// copied. Its methods may be called concurrently.
type Output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements [io.Writer].
func (o *Output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

// String returns all that was written so far.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
