package etcd

import (
	"log/slog"
	"sync"

	"github.com/elasticron/elasticron/registry"
)

// sweeper takes tickets out of the lines for latches with which nobody stands there. The request that
// creates a ticket is repeated until it is answered, so an earlier try may be carried out when the ticket has
// been withdrawn, and what it creates would hold up everybody for as long as the lease lives. It can come of
// requests only of which a try got no answer; their tickets are followed from their withdrawal on, until the
// process has another lease.
type sweeper struct {
	l *latches

	mu    sync.Mutex
	lease registry.SessionID
	views map[string]*registry.View // of tickets that may come late; nil before their withdrawal
}

// reset forgets the tickets of other sessions than this: they can come no more, or go with their lease.
func (s *sweeper) reset(session registry.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == session {
		return // the lease was taken up again
	}
	for _, v := range s.views {
		if v != nil {
			v.Close()
		}
	}
	s.lease, s.views = session, make(map[string]*registry.View)
}

// doubt notes that the ticket of this key may be created late.
func (s *sweeper) doubt(session registry.SessionID, key string) {
	ticket := key[len(s.l.r.ns):]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lease == session && s.views[ticket] == nil {
		s.views[ticket] = nil
	}
}

// lookOut follows a ticket that was withdrawn, if it may come late.
func (s *sweeper) lookOut(path, ticket string) {
	if !s.wants(ticket) {
		return
	}
	view, err := s.l.r.View(s.l.r.life, ticket)
	if err != nil {
		s.l.r.log.Debug("late ticket of a latch is not looked out for", slog.String("path", path), slog.Any("error", err))
		return
	}
	if !s.keep(ticket, view) {
		view.Close()
		return
	}
	view.Subscribe(func(step registry.Step) {
		if late := step.Snapshot.Get(ticket); late.Exists() {
			s.l.wg.Go(func() { s.clear(path, view, late) })
		}
	})
}

// wants tells whether a ticket may come late and is not followed.
func (s *sweeper) wants(ticket string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	view, late := s.views[ticket]
	return late && (view == nil || view.Err() != nil)
}

func (s *sweeper) keep(ticket string, view *registry.View) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	other, late := s.views[ticket]
	if !late || other != nil && other.Err() == nil {
		return false
	}
	s.views[ticket] = view
	return true
}

// clear takes a ticket out of the line for everybody, and has its own turn in that of the process: a candidate
// whose lease has a ticket already stands with that one, and must not lose it.
func (s *sweeper) clear(path string, view *registry.View, late registry.Node) {
	leave, ok := s.l.lines.enter(s.l.r.life, path)
	if !ok {
		return
	}
	defer leave()
	if view.Snapshot().Get(late.Path).Created == late.Created {
		s.l.r.takeOut(path, late.Path, "=", int64(late.Created))
	}
}
