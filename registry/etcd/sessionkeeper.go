package etcd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/elasticron/elasticron/internal/repeats"
	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/backend"
	"github.com/elasticron/elasticron/registry/internal/remote"
)

// errRevoked is why a session is lost whose lease the server does not know any more.
var errRevoked = errors.New("the store has ended it")

// errNoKeepAliveAnswer stands in the log for keep-alives that wait for their answers.
var errNoKeepAliveAnswer = errors.New("no answer to several keep-alives")

// sessionKeeper gives the handle its sessions, one after the other, and keeps each alive. Nothing is asked
// of the store until somebody wants a session.
type sessionKeeper struct {
	r          *Registry
	clock      backend.SessionClock
	keepAlives *keepAliver
	wg         sync.WaitGroup
	abandoned  *registry.Session // the last that was abandoned; the store drops it soon. Of run, and of close once run is over

	// Only run writes session and control, and reads them without mu.
	mu        sync.Mutex
	started   bool
	closed    bool
	session   *registry.Session // nil before the first
	control   *backend.SessionControl
	published chan struct{} // closed and replaced with every new session
}

func newSessionKeeper(r *Registry) *sessionKeeper {
	return &sessionKeeper{r: r, clock: remote.NewClock(), keepAlives: newKeepAliver(r.client, r.members), published: make(chan struct{})}
}

// Session implements [registry.Sessioner]. The first call asks the store for a lease.
func (r *Registry) Session(ctx context.Context) (*registry.Session, error) {
	s, err := r.keeper.current(ctx)
	return s, r.opError(registry.OpSession, "", err)
}

func (k *sessionKeeper) current(ctx context.Context) (*registry.Session, error) {
	for {
		session, published, err := k.latest()
		if err != nil || session != nil && session.Err() == nil {
			return session, err
		}
		select {
		case <-published:
		case <-k.r.life.Done():
		case <-ctx.Done():
			return nil, remote.GivenUp(ctx, registry.ErrUnavailable, nil)
		}
	}
}

// latest returns the session and what tells of the next, and starts the keeping if need be.
func (k *sessionKeeper) latest() (*registry.Session, <-chan struct{}, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, nil, registry.ErrClosed
	}
	if !k.started {
		k.started = true
		k.wg.Go(k.run)
	}
	return k.session, k.published, nil
}

// run makes one session after the other.
func (k *sessionKeeper) run() {
	var last registry.SessionID
	for k.r.life.Err() == nil {
		session, control, sent := k.open(last)
		if session == nil {
			return
		}
		last = session.ID()
		k.publish(session, control)
		reason := k.keepAlive(session, control, sent)
		if k.r.life.Err() == nil {
			k.r.log.Warn("session lost", slog.String("session", last.String()), slog.Any("error", reason), slog.String("endpoints", k.r.endpoints()))
		}
		if errors.Is(reason, errRevoked) {
			last = 0
		}
	}
}

func (k *sessionKeeper) publish(session *registry.Session, control *backend.SessionControl) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.session, k.control = session, control
	close(k.published)
	k.published = make(chan struct{})
	k.r.log.Info("session", slog.String("session", session.ID().String()), slog.Duration("ttl", session.TTL()))
}

// open makes a session, or returns nil when the handle ends. After a long outage the server may
// still hold the lease of the last session, and with it the process's nodes, which would be in the
// successor's way for another TTL: then the new session is on the old lease. Only a lease that this
// very process was granted, and did not give up, is taken up again.
func (k *sessionKeeper) open(last registry.SessionID) (*registry.Session, *backend.SessionControl, time.Duration) {
	retry := k.r.config.retryPolicy()
	for {
		if last != 0 && k.control.Abandoned() {
			last, k.abandoned = 0, k.session
		}
		sent := k.clock()
		id, ttl, err := k.grantOrResume(last, retry.tryTimeout())
		switch {
		case last != 0 && k.control.Abandoned(): // meanwhile
			continue
		case err == nil:
			session, control := backend.NewSession(id, ttl, k.clock, sent)
			return session, control, sent
		case errors.Is(err, rpctypes.ErrLeaseNotFound):
			last = 0
			continue
		}
		retry.noteFailure(err)
		k.noAnswer("session", err)
		if !remote.Sleep(k.r.life, retry.backoff()) {
			return nil, nil, 0
		}
	}
}

func (k *sessionKeeper) grantOrResume(last registry.SessionID, limit time.Duration) (registry.SessionID, time.Duration, error) {
	if last != 0 {
		ttl, err := k.keepAlives.send(k.r.life, last, limit)
		return last, ttl, err
	}
	ctx, cancel := context.WithTimeout(k.r.life, limit)
	defer cancel()
	asked := (k.r.config.SessionTTL + time.Second - 1) / time.Second
	granted, err := k.r.client.Grant(ctx, int64(asked))
	if err != nil {
		return 0, 0, err
	}
	return registry.SessionID(granted.ID), time.Duration(granted.TTL) * time.Second, nil
}

// maxKeepAlives bounds the keep-alives that wait for their answers side by side.
const maxKeepAlives = 5

// keepAlive sends a keep-alive each third of the TTL until the session is lost, and returns why it is. One
// that has no answer for a sixth of the TTL is waited for all the same, as long as it is worth anything:
// a store that is slow must not cost the session. Another is sent beside it, in case a
// member stands still. One that fails is repeated soon.
func (k *sessionKeeper) keepAlive(s *registry.Session, control *backend.SessionControl, sent time.Duration) error {
	answers := make(chan keepAlive, maxKeepAlives)
	due := sent + s.TTL()/3
	for waiting := 0; ; {
		answer, answered, over := k.waitForAnswer(s, due, waiting == maxKeepAlives, answers)
		switch {
		case over:
			return s.Err()
		case !answered:
			now := k.clock() // of this one, which is still under way when the next is sent
			if now-due > s.TTL()/3 {
				control.Suspend() // this process or the machine slept: trust nothing until an answer
			}
			due = now + s.TTL()/6
			if waiting++; waiting == 3 {
				k.noAnswer("keep-alive", errNoKeepAliveAnswer)
			}
			k.wg.Go(func() { answers <- k.sendKeepAlive(s, now) })
			continue
		}
		waiting--
		switch {
		case answer.err == nil:
			k.r.lastFailure.answered()
			control.Renew(answer.sent)
			due = max(due, answer.sent+s.TTL()/3)
		case errors.Is(answer.err, rpctypes.ErrLeaseNotFound):
			control.Lose(fmt.Errorf("%w: %w", errRevoked, answer.err))
		default:
			k.noAnswer("keep-alive", answer.err)
			due = min(due, k.clock()+s.TTL()/30)
		}
	}
}

// noAnswer reports that the store did not do what a session takes: one cause, however often it is tried.
func (k *sessionKeeper) noAnswer(what string, err error) {
	if k.r.life.Err() != nil {
		return
	}
	k.r.lastFailure.note(err)
	err = k.r.explain(registry.OpSession, "", cmp.Or(refusal(err), err))
	k.r.repeats.Tell(repeats.Line{
		Level: slog.LevelWarn, Message: "the registry does not answer", Cause: what,
		Tells: []any{"asked", what}, Attrs: []any{"endpoints", k.r.endpoints(), "error", err},
	})
}

// keepAlive is one keep-alive and its result.
type keepAlive struct {
	sent time.Duration
	err  error
}

func (k *sessionKeeper) sendKeepAlive(s *registry.Session, sent time.Duration) keepAlive {
	_, err := k.keepAlives.send(k.r.life, s.ID(), s.TTL())
	return keepAlive{sent, err}
}

// waitForAnswer waits until a moment of the clock, unless enough is under way, or for an answer. It is over when the
// session or the handle ended first.
func (k *sessionKeeper) waitForAnswer(s *registry.Session, until time.Duration, enough bool, answers <-chan keepAlive) (answer keepAlive, answered, over bool) {
	timer := time.NewTimer(until - k.clock())
	defer timer.Stop()
	moment := timer.C
	if enough {
		moment = nil
	}
	select {
	case <-moment:
		return keepAlive{}, false, s.Err() != nil
	case answer = <-answers:
		return answer, true, s.Err() != nil
	case <-s.Done():
		return keepAlive{}, false, true
	case <-k.r.life.Done():
		return keepAlive{}, false, true
	}
}

// leaseGone takes in that the store refused a commit because it does not know a lease of these sessions.
func (k *sessionKeeper) leaseGone(sessions []*registry.Session, refusal error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(sessions) == 1 && slices.Contains(sessions, k.session) {
		k.control.Lose(fmt.Errorf("%w: %w", errRevoked, refusal))
	}
}
