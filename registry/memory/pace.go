package memory

import (
	"sync"
	"time"
)

// pace is how fast the store carries out transactions. The zero pace is at once.
type pace struct {
	mu    sync.Mutex
	each  time.Duration // that one transaction keeps it busy
	write time.Duration // that a request takes besides, side by side with others
	free  time.Time     // when it has done all that it was given so far
}

// SetPace has the store carry out at most so many transactions a second from now on, in the order in
// which they arrive, and has each request take a while longer, side by side with others, as a slow disk
// does that writes them together. 0 and 0, as at first, is at once. Reads and keep-alives take no time.
func (s *Server) SetPace(perSecond int, write time.Duration) {
	p := &s.pace
	p.mu.Lock()
	defer p.mu.Unlock()
	p.each, p.write = 0, write
	if perSecond > 0 {
		p.each = time.Second / time.Duration(perSecond)
	}
}

// carryOut calls do when a request with so many transactions is done.
func (p *pace) carryOut(txns int, do func()) {
	p.mu.Lock()
	now := time.Now()
	if p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(txns) * p.each)
	wait := p.free.Sub(now) + p.write
	p.mu.Unlock()
	if wait <= 0 {
		do()
		return
	}
	time.AfterFunc(wait, do)
}
