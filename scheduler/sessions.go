package scheduler

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/elasticron/elasticron/internal/execution"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/membership"
	"github.com/elasticron/elasticron/scheduler/internal/room"
)

// followSessions keeps the runners attached to the registry's session in force, one after the other,
// until ctx ends or the registry is closed.
func (s *Scheduler) followSessions(ctx context.Context) error {
	for {
		session, err := s.registry.Session(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		give, err := membership.Take(session, s.instance)
		if err != nil {
			return err
		}
		s.follow(ctx, room.NewAttachment(execution.WithSession(ctx, session), session))
		give()
	}
}

// follow tells the runners of each change of one session, until it is lost or ctx ends.
func (s *Scheduler) follow(ctx context.Context, a *room.Attachment) {
	over := func() { a.Cancel(cmp.Or(context.Cause(ctx), a.Session.Err())) } // ctx may have ended, and not have told a yet
	defer over()
	s.log.InfoContext(ctx, "session established", logSession, a.Session.ID().String())
	s.clock.Renew(ctx)
	told := ConnectionChange("")
	for {
		changed := a.Session.Changed()
		state := a.Session.State()
		if state == registry.SessionLost {
			// Cancel first: the deadline leaves a margin, and this is what it is for.
			over()
			s.log.WarnContext(ctx, "session lost, running items are cancelled",
				logSession, a.Session.ID().String(), logReason, a.Session.Err().Error())
			s.tell(nil)
			s.tellConnection(a.Session, state, told)
			return
		}
		if state == registry.SessionSuspended {
			// Over a slow link each late keep-alive ends a doubt, and the next one begins.
			s.repeated(slog.LevelWarn, "session in doubt, nothing new starts", "", nil, logSession, a.Session.ID().String())
		}
		s.tell(a)
		told = s.tellConnection(a.Session, state, told)
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// tell hands the attachment to every runner; a runner to which it is no news only decides again.
func (s *Scheduler) tell(a *room.Attachment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := a != nil && a != s.attached
	s.attached = a
	if fresh && s.session != nil && s.session.ID() != a.Session.ID() {
		s.forgetLeft()
	}
	if a != nil {
		s.session = a.Session
	}
	if fresh {
		s.takeOutAllLeft()
	}
	if fresh && s.catalog != nil {
		s.catalog.box.Post(s.catalog.takeOutAll)
	}
	for _, r := range s.runners {
		r.box.Post(func() { r.attach(a) })
	}
}
