package memory

import (
	"time"

	"github.com/elasticron/elasticron/registry"
)

// lease is the server's side of a session: its nodes, and when they go if nothing is heard of it.
type lease struct {
	id    registry.SessionID
	ttl   time.Duration
	until time.Time
	timer *time.Timer
	nodes map[string]struct{} // full paths
}

// grant begins a new session.
func (s *Server) grant(ttl time.Duration) registry.SessionID {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastLease++
	l := &lease{id: s.lastLease, ttl: ttl, nodes: make(map[string]struct{})}
	l.timer = time.AfterFunc(ttl, func() { s.expire(l) })
	l.until = time.Now().Add(ttl)
	s.leases[l.id] = l
	return l.id
}

// renew gives a session its full TTL again; false if there is no such session.
func (s *Server) renew(id registry.SessionID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.leases[id]
	if l != nil {
		l.restart()
	}
	return l != nil
}

func (l *lease) restart() {
	l.until = time.Now().Add(l.ttl)
	l.timer.Reset(l.ttl)
}

// expire is the timer's function. The timer may have fired in the moment in which the lease was
// renewed, or the server stopped; then it is not due.
func (s *Server) expire(l *lease) {
	s.mu.Lock()
	due := !s.down && !time.Now().Before(l.until)
	s.mu.Unlock()
	if due {
		s.drop(l.id)
	}
}

// drop ends a session and removes its nodes, all in one revision.
func (s *Server) drop(id registry.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.leases[id]
	if l == nil {
		return
	}
	l.timer.Stop()
	delete(s.leases, id)
	var events []registry.Event
	for full := range l.nodes {
		events = append(events, s.tree.remove(full))
	}
	s.publish(events)
}
