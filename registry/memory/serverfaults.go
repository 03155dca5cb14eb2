package memory

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// SetFull makes the store refuse every transaction with a put or an update with
// registry.ErrNoSpace, as etcd does when its quota is used up. Deletes, reads and keep-alives go on.
func (s *Server) SetFull(full bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full = full
}

// SetClockSkew makes [Registry.ServerTime] differ from package time by this much.
func (s *Server) SetClockSkew(skew time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skew = skew
}

// Compact forgets the history. A handle that has not seen all of it yet must take fresh copies.
func (s *Server) Compact() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history.forget(s.revision)
}

// Stop takes the server down: every connection breaks, nothing is answered, no session expires.
// Calls wait.
func (s *Server) Stop() { s.setDown(true) }

// Start brings the server up again with all nodes. Every session starts a fresh TTL, as on etcd.
func (s *Server) Start() { s.setDown(false) }

// LateCopy is the result of a transaction that arrived late: see [Registry.HoldBack] and
// [Registry.DuplicateLater].
type LateCopy struct {
	Txn  registry.Txn
	Done bool  // the server has done it before
	Err  error // why it was refused; nil if it was carried out
}

// OnLateCopy has tell be called for every transaction that arrives late, after the server has dealt with
// it. It is for tests of those who rely on the word by which a transaction may be repeated.
func (s *Server) OnLateCopy(tell func(LateCopy)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tellLate = tell
}

func (s *Server) lateCopies() func(LateCopy) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tellLate == nil {
		return func(LateCopy) {}
	}
	return s.tellLate
}

func (s *Server) stopped() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down
}

func (s *Server) setDown(down bool) {
	s.mu.Lock()
	s.down = down
	for _, l := range s.leases {
		l.timer.Stop()
		if !down {
			l.restart()
		}
	}
	handles := slices.Clone(s.handles)
	s.mu.Unlock()
	for _, r := range handles {
		r.serverChanged(down)
	}
}
