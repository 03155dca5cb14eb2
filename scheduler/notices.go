package scheduler

import (
	"context"
	"log/slog"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/scheduler/internal/notify"
)

// ConnectionListener hears of changes of the session, one call at a time and in their order. See
// [WithConnectionListener].
type ConnectionListener func(ctx context.Context, e ConnectionEvent) error

// LeadershipListener hears of leaderships that this process gains and loses, one call at a time and
// in their order. See [WithLeadershipListener].
type LeadershipListener func(ctx context.Context, e LeadershipEvent) error

// noticeConnection tells the observer and the listeners of a change of the session.
func (s *Scheduler) noticeConnection(e ConnectionEvent) {
	s.observer.observe(e)
	for _, listener := range s.connectionListeners {
		s.notices.Post(notify.Listener{Kind: ListenerConnection}, func(ctx context.Context) error { return listener(ctx, e) })
	}
}

func (s *Scheduler) noticeLeadership(e LeadershipEvent) {
	s.observer.observe(e)
	for _, listener := range s.leadershipListeners {
		s.notices.Post(notify.Listener{Job: e.Job, Kind: ListenerLeadership}, func(ctx context.Context) error { return listener(ctx, e) })
	}
}

// listenerFailed reports how a call of a listener failed. Calls that the stop prevented are counted, not
// logged one by one.
func (s *Scheduler) listenerFailed(ctx context.Context, l notify.Listener, err error, uncalled bool) {
	if !uncalled {
		attrs := []any{slog.String("listener", l.Kind), slog.Any(logError, err)}
		if l.Job != "" {
			attrs = append(attrs, slog.String(logJob, l.Job))
		}
		s.log.ErrorContext(ctx, "listener failed", attrs...)
	}
	s.observer.observe(ListenerEvent{Job: l.Job, Listener: l.Kind, Err: err})
}

// followLeadership tells of leaderships gained and lost since the last look.
func (r *runner) followLeadership() {
	var led registry.Revision
	if r.leads() {
		led = r.state.Leader.Created
	}
	lost, term := r.leadership.Follow(led)
	if lost != 0 {
		r.log.InfoContext(r.life, "not the leader any more", "term", int64(lost))
		r.s.noticeLeadership(LeadershipEvent{Job: r.name, Term: lost, Time: r.s.now()})
	}
	if term != 0 {
		r.log.InfoContext(r.life, "elected leader", "term", int64(term))
		r.s.noticeLeadership(LeadershipEvent{Job: r.name, Leading: true, Term: term, Time: r.s.now()})
	}
}

// tellConnection reports the state of the session if it differs from the state that was reported last,
// and returns the state reported by now.
func (s *Scheduler) tellConnection(session *registry.Session, state registry.SessionState, told ConnectionChange) ConnectionChange {
	e := ConnectionEvent{Session: session.ID(), Time: s.now()}
	switch {
	case state == registry.SessionLost:
		e.Change, e.Reason = ConnectionLost, session.Err()
	case state == registry.SessionSuspended:
		e.Change = ConnectionSuspended
	case told == ConnectionSuspended:
		e.Change = ConnectionBack
	case told == "":
		e.Change = ConnectionEstablished
	default:
		return told // connected as before
	}
	if e.Change != told {
		s.noticeConnection(e)
	}
	return e.Change
}
