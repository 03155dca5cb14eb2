package etcd

import (
	"log/slog"
	"sync"

	"github.com/elasticron/elasticron/registry"
)

// sweeper takes tickets out of the lines for latches with which nobody stands there. The request that creates a ticket is
// repeated until it is answered, so an earlier try may be carried out when the ticket has been withdrawn, and what it
// creates would hold up everybody for as long as the lease lives. It can come of requests only of which a try got no answer,
// or met a store that was full, which may have carried it out; their tickets are followed from their withdrawal on, until
// the process has another lease.
type sweeper struct {
	latches *latches

	mu      sync.Mutex
	session registry.SessionID
	views   map[string]*registry.View // of tickets that may come late; nil before their withdrawal
}

// reset forgets the tickets of other sessions than this: they can come no more, or go with their lease.
func (s *sweeper) reset(session registry.SessionID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == session {
		return // the lease was taken up again
	}
	for _, v := range s.views {
		if v != nil {
			v.Close()
		}
	}
	s.session, s.views = session, make(map[string]*registry.View)
}

// noteUncertain notes that the ticket of this key may be created late.
func (s *sweeper) noteUncertain(session registry.SessionID, key string) {
	ticket := key[len(s.latches.r.ns):]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.session == session && s.views[ticket] == nil {
		s.views[ticket] = nil
	}
}

// watchTicket follows a ticket that was withdrawn, if it may come late.
func (s *sweeper) watchTicket(path, ticket string) {
	if !s.needsWatch(ticket) {
		return
	}
	view, err := s.latches.r.View(s.latches.r.life, ticket)
	if err != nil {
		s.latches.r.log.Debug("late ticket of a latch is not looked out for", slog.String("path", path), slog.Any("error", err))
		return
	}
	if !s.addView(ticket, view) {
		view.Close()
		return
	}
	view.Subscribe(func(step registry.Step) {
		if late := step.Snapshot.Get(ticket); late.Exists() {
			s.latches.wg.Go(func() { s.remove(path, late) })
		}
	})
}

// needsWatch tells whether a ticket may come late and is not followed.
func (s *sweeper) needsWatch(ticket string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	view, late := s.views[ticket]
	return late && (view == nil || view.Err() != nil)
}

func (s *sweeper) addView(ticket string, view *registry.View) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	other, late := s.views[ticket]
	if !late || other != nil && other.Err() == nil {
		return false
	}
	s.views[ticket] = view
	return true
}

// remove takes a ticket out of the line for everybody, and has its own turn in that of the process: a candidate
// whose lease has a ticket already stands with that one, and must not lose it. What the view shows by then is not
// asked: it may be told of the ticket and not show it yet.
func (s *sweeper) remove(path string, late registry.Node) {
	unlock, ok := s.latches.paths.lock(s.latches.r.life, path)
	if !ok {
		return
	}
	defer unlock()
	s.latches.r.deleteTicket(path, late.Path, "=", int64(late.Created))
}
