package memory

import (
	"slices"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
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
	l.timer = time.AfterFunc(ttl, func() { s.expire() })
	l.restart()
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

// holds tells whether there is such a session.
func (s *Server) holds(id registry.SessionID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.leases[id] != nil
}

// restart has the timer fire when the lease is due, not before: nobody would look again.
func (l *lease) restart() { l.extend(l.ttl) }

func (l *lease) extend(by time.Duration) {
	l.until = time.Now().Add(by)
	l.timer.Reset(by)
}

// stall is how late a timer fires only where the machine stood still. So did the clients, which live in the same
// process: they get time for one more keep-alive. Virtual time is never late.
const stall = 50 * time.Millisecond

// expire is the function of every lease's timer. The timer may have fired in the moment in which the
// lease was renewed, or the server stopped; then it is not due. Leases that are due in one instant, as
// after a restart, end in the order in which they began.
func (s *Server) expire() {
	for _, id := range s.due() {
		s.drop(id)
	}
}

func (s *Server) due() []registry.SessionID {
	s.mu.Lock()
	defer s.mu.Unlock()
	var due []registry.SessionID
	for id, l := range s.leases {
		switch late := time.Since(l.until); {
		case s.down || late < 0:
		case late > stall:
			l.extend(l.ttl / 3)
		default:
			due = append(due, id)
		}
	}
	slices.Sort(due)
	return due
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
	var events []backend.Event
	for full := range l.nodes {
		events = append(events, s.tree.remove(full, s.revision+1))
	}
	s.publish(events)
}
