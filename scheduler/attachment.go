package scheduler

import (
	"context"

	"github.com/elasticron/elasticron/registry"
)

// attachment is the process's present session together with the context of all work under it. Work
// keeps the attachment that it started under, so that it can never be taken for its successor's.
type attachment struct {
	session *registry.Session
	ctx     context.Context // of commits; ends with the session, with its error as the cause
	cancel  context.CancelCauseFunc

	work       context.Context // of items; ends with ctx, or when a stop cancels them
	cancelWork context.CancelCauseFunc
}

func newAttachment(parent context.Context, session *registry.Session) *attachment {
	a := &attachment{session: session}
	a.ctx, a.cancel = context.WithCancelCause(parent)
	a.work, a.cancelWork = context.WithCancelCause(a.ctx)
	return a
}

// connected tells whether new work may start. A nil attachment, as before the first session, is not.
func (a *attachment) connected() bool {
	return a != nil && a.session.State() == registry.SessionConnected
}

// lasts tells whether something can still be recorded under the session. A nil attachment does not.
func (a *attachment) lasts() bool {
	return a != nil && a.ctx.Err() == nil && a.session.State() != registry.SessionLost
}

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
		s.follow(ctx, newAttachment(ctx, session))
	}
}

// follow tells the runners what becomes of one session, until it is lost or ctx ends.
func (s *Scheduler) follow(ctx context.Context, a *attachment) {
	defer func() { a.cancel(a.session.Err()) }()
	s.log.InfoContext(ctx, "session established", logSession, a.session.ID().String())
	s.clock.Check(ctx, 0)
	told := ConnectionChange("")
	for {
		changed := a.session.Changed()
		state := a.session.State()
		if state == registry.SessionLost {
			// Cancel first: the deadline leaves a margin, and this is what it is for.
			a.cancel(a.session.Err())
			s.log.WarnContext(ctx, "session lost, running items are cancelled",
				logSession, a.session.ID().String(), logReason, a.session.Err().Error())
			s.tell(nil)
			s.tellConnection(a.session, state, told)
			return
		}
		if state == registry.SessionSuspended {
			s.log.WarnContext(ctx, "session in doubt, nothing new starts", logSession, a.session.ID().String())
		}
		s.tell(a)
		told = s.tellConnection(a.session, state, told)
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// tell hands the attachment to every runner; a runner to which it is no news only decides again.
func (s *Scheduler) tell(a *attachment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.catalog != nil && a != nil && a != s.attached {
		s.catalog.box.Post(s.catalog.resignAll)
	}
	known := s.attached
	s.attached = a
	if a != nil && a != known {
		s.resignLeft()
	}
	if a != nil {
		s.session = a.session
	}
	for _, r := range s.runners {
		r.box.Post(func() { r.attach(a) })
	}
}
