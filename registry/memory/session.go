package memory

import (
	"context"
	"errors"
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
)

// Session implements [registry.Sessioner].
func (r *Registry) Session(ctx context.Context) (*registry.Session, error) {
	ctx, cancel := r.bind(ctx)
	defer cancel()
	for {
		r.mu.Lock()
		session, renewed := r.session, r.renewed
		r.mu.Unlock()
		if ctx.Err() == nil && session != nil && session.State() != registry.SessionLost {
			return session, nil
		}
		select {
		case <-renewed:
		case <-ctx.Done():
			return nil, &registry.OpError{Op: registry.OpSession, Err: unavailable(context.Cause(ctx))}
		}
	}
}

// keepSessions gives the handle one session after the other and keeps each alive.
func (r *Registry) keepSessions() {
	for r.life.Err() == nil {
		if r.establish() {
			r.keepAlive()
		}
	}
}

// establish begins a session. If the server still holds the last one's claim, which this process
// alone can have, it is taken up again: waiting for it to expire would only block its nodes.
func (r *Registry) establish() bool {
	if r.link.await(r.life) != nil {
		return false
	}
	sent := r.link.clock()
	last, id := r.lease, registry.SessionID(0)
	err := r.link.carry(r.life, "session", func() {
		if r.giveUp(last) {
			last = 0
		}
		if id = last; !r.server.renew(last) {
			id = r.server.grant(r.settings.ttl)
		}
	})
	if err != nil {
		return false
	}
	r.lease = id
	r.clearLitter()
	session, control := backend.NewSession(id, r.settings.ttl, r.link.clock, sent)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session, r.control, r.established = session, control, sent
	clear(r.swept)
	close(r.renewed)
	r.renewed = make(chan struct{})
	return true
}

// giveUp notes a claim that is not to be taken up again, and tells whether it is that.
func (r *Registry) giveUp(last registry.SessionID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.control == nil || !r.control.Abandoned() {
		return false
	}
	r.givenUp = last
	return true
}

// keepAlive confirms the session three times in a TTL, until it is lost or the handle ends. It counts
// from when the last request was sent, as the session does: an answer may be long under way.
func (r *Registry) keepAlive() {
	session, control, sent := r.session, r.control, r.established
	for {
		// Never due at once: the race detector of Go 1.26 breaks down at two such timers in a bubble.
		timer := time.NewTimer(max(time.Nanosecond, sent+r.settings.ttl/3-r.link.clock()))
		select {
		case <-timer.C:
		case <-r.beat:
		case <-session.Done():
			return
		case <-r.life.Done():
			return
		}
		sent = r.confirm(session, control)
		if session.State() == registry.SessionLost {
			return
		}
		r.clearLitter()
	}
}

// confirm sends one keep-alive, and returns when it did. Waiting longer than the session lasts would be
// of no use.
func (r *Registry) confirm(session *registry.Session, control *backend.SessionControl) (sent time.Duration) {
	ctx, cancel := context.WithTimeout(r.life, session.Remaining())
	defer cancel()
	cut := r.link.await(ctx)
	sent = r.link.clock()
	if cut != nil {
		return sent
	}
	var held bool
	err := r.link.carry(ctx, "keep-alive", func() { held = r.server.renew(session.ID()) })
	switch {
	case err != nil:
	case held:
		control.Renew(sent)
	default:
		control.Lose(errors.New("the store does not know it any more"))
	}
	return sent
}

// noticeLoss ends the session at once, if it is the present one, when a commit learns that it is
// over; the next keep-alive would find out later.
func (r *Registry) noticeLoss(txn registry.Txn, refusal error) {
	if !errors.Is(refusal, registry.ErrSessionLost) {
		return
	}
	r.mu.Lock()
	session, control := r.session, r.control
	r.mu.Unlock()
	for _, w := range txn.Then {
		if w.Session != nil && w.Session == session {
			control.Lose(refusal)
		}
	}
}

// serverChanged is called when the server stops or starts: the connection breaks, or is back.
func (r *Registry) serverChanged(down bool) {
	r.link.set(func(l *link) { l.down = down })
	r.mu.Lock()
	control := r.control
	r.mu.Unlock()
	if down && control != nil {
		control.Suspend()
	}
	r.beat.wake()
}
