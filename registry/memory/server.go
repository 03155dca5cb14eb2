package memory

import (
	"slices"
	"sync"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// Server is the store. All methods are safe for concurrent use.
type Server struct {
	limits limits
	stats  counters
	pace   pace

	mu        sync.Mutex
	tree      tree
	history   history
	revision  registry.Revision
	leases    map[registry.SessionID]*lease
	lastLease registry.SessionID
	handles   []*Registry // in the order in which they were opened
	down      bool
	tellLate  func(LateCopy)
	full      bool
	skew      time.Duration
}

// NewServer starts an empty store. It has no goroutine of its own and needs no closing. It panics if an
// option makes no sense.
func NewServer(options ...ServerOption) *Server {
	limits := limits{ops: DefaultMaxOps, bytes: DefaultMaxBytes, history: DefaultHistory}
	take(&limits, options)
	return &Server{
		limits:   limits,
		history:  history{limit: limits.history, complete: 1},
		revision: 1,
		leases:   make(map[registry.SessionID]*lease),
	}
}

// publish makes events the next revision, if there are any, and wakes the handles. The caller holds
// mu; waking never blocks.
func (s *Server) publish(events []backend.Event) {
	if len(events) == 0 {
		return
	}
	s.revision++
	s.history.add(commit{revision: s.revision, at: time.Now(), events: events})
	for _, r := range s.handles {
		r.news.wake()
	}
}

func (s *Server) join(r *Registry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handles = append(s.handles, r)
	r.link.set(func(l *link) { l.down = s.down })
	r.seen = s.revision
}

func (s *Server) leave(r *Registry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.handles = slices.DeleteFunc(s.handles, func(other *Registry) bool { return other == r })
}

func (s *Server) now() registry.Revision {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

func (s *Server) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.skew)
}

func (s *Server) get(prefix, path string) registry.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.get(prefix, path)
}

func (s *Server) list(prefix, path string) ([]registry.Node, registry.Revision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.list(prefix, path), s.revision
}

// since returns what a watch that has seen revision still misses; false if that is forgotten.
func (s *Server) since(revision registry.Revision) ([]commit, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.history.since(revision)
}
