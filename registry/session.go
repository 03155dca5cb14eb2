package registry

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// SessionState is what a session may be relied upon for.
type SessionState uint8

// The states, in the order in which a session goes through them. Suspended may become connected
// again; lost is the end.
const (
	// SessionConnected: the store confirmed the session lately. Work may start.
	SessionConnected SessionState = iota + 1
	// SessionSuspended: a confirmation is overdue. What runs may go on, nothing new may start.
	SessionSuspended
	// SessionLost: the session is over, or can no longer be shown not to be. Work must stop.
	SessionLost
)

// String returns "connected", "suspended" or "lost".
func (s SessionState) String() string {
	switch s {
	case SessionConnected:
		return "connected"
	case SessionSuspended:
		return "suspended"
	case SessionLost:
		return "lost"
	default:
		return fmt.Sprintf("session state %d", uint8(s))
	}
}

// Session is a process's claim on its ephemeral nodes, with a local deadline. The store drops the
// nodes of a session that it has not heard of for the TTL. The session counts itself as lost a
// margin before that, reckoned from when the last confirmed keep-alive was sent, so that its work
// has stopped when others may take over, even if no answer ever comes again.
//
// A lost session stays lost. Its successor is another Session; when the store still held the old
// claim and the backend took it up again, both have the same id.
//
// All methods may be called concurrently and none does I/O.
type Session struct {
	id    SessionID
	ttl   time.Duration
	clock func() time.Duration // also goes while the machine sleeps, and never back

	// now is what the last look under the lock came to, for all who only ask: thousands of executions do so in
	// the same moment.
	now atomic.Pointer[standing]

	mu        sync.Mutex
	renewed   time.Duration // on clock: when the last confirmed keep-alive was sent
	suspended bool          // by the backend, until the next renewal
	lost      error         // why it is over; nil while it is not
	abandoned bool          // its claim must not be taken up again
	dropped   time.Duration // on clock: when the store dropped its nodes at the earliest; once it is over
	shown     SessionState  // what the last change notification told
	changed   chan struct{} // closed and replaced at every change of state
	done      chan struct{}
	timer     *time.Timer // next moment at which the state may change by itself
}

// standing is what a session is until a moment of its clock, unless another takes its place before. It never
// changes.
type standing struct {
	state  SessionState
	until  time.Duration // on clock
	expiry time.Duration // on clock
	lost   error         // why it is over; nil while it is not
}

// newSession makes a session that the store granted or confirmed in answer to a request sent at sent on
// clock.
func newSession(id SessionID, ttl time.Duration, clock func() time.Duration, sent time.Duration) *Session {
	s := &Session{
		id: id, ttl: ttl, clock: clock, renewed: sent,
		shown: SessionConnected, changed: make(chan struct{}), done: make(chan struct{}),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.timer = time.AfterFunc(ttl, s.check)
	s.refresh()
	return s
}

// ID returns the store's name of the session.
func (s *Session) ID() SessionID { return s.id }

// TTL returns for how long the store keeps the session's nodes without hearing of it.
func (s *Session) TTL() time.Duration { return s.ttl }

// State tells what may be done now. It reads the clock, so it is right even if this process was
// paused until a moment ago.
func (s *Session) State() SessionState {
	is, _ := s.look()
	return is.state
}

// look returns what the session is, and the time at which it was. It takes no lock unless the clock may have
// changed something. The clock is read after what is compared with it: so an answer is never older than the
// question, wherever this process is paused.
func (s *Session) look() (*standing, time.Duration) {
	is := s.now.Load()
	now := s.clock()
	if is.state == SessionLost || now < is.until {
		return is, now
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now = s.clock()
	s.refreshAt(now)
	return s.now.Load(), now
}

// Changed returns a channel that is closed at the next change of state. Take it before reading the
// state that it should be compared with.
func (s *Session) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Done returns a channel that is closed when the session is lost.
func (s *Session) Done() <-chan struct{} { return s.done }

// Err returns why the session is lost, wrapping [ErrSessionLost], and nil while it is not.
func (s *Session) Err() error {
	is, _ := s.look()
	return is.lost
}

// Remaining returns how long the session is valid if no further confirmation comes; 0 when lost.
func (s *Session) Remaining() time.Duration {
	is, now := s.look()
	if is.state == SessionLost {
		return 0
	}
	return is.expiry - now
}

// Held returns for how long at least the store goes on to hold the session's nodes, also when it is lost: nobody else can have
// before that what they stand for. Where it ended by its own deadline, this is the time to end work that no context reaches, such
// as another process. It is 0 if the store has ended the session.
func (s *Session) Held() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	until := s.renewed + s.ttl
	if s.refresh(); s.lost != nil && !errors.Is(s.lost, ErrAbandoned) { // what the process gives up, the store keeps
		until = s.dropped
	}
	return max(0, until-s.clock())
}

// Over returns for how long, at most, the store has dropped the session's nodes by now; 0 if it cannot have. It has not within
// the TTL after the last confirmed keep-alive was sent, unless it says that the session is over, or the process gave it up.
func (s *Session) Over() time.Duration {
	if s.State() != SessionLost {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.clock()-s.dropped)
}

// Abandon gives the session up, for a reason that its Err will wrap beside [ErrAbandoned]. It is for a
// process that holds nodes which it may neither follow nor delete: they vanish when the TTL has passed at
// the latest, as after a crash, because neither the session nor its claim is kept alive any more. All that
// the process does under the session must stop. Another session follows, with another claim. If the session
// was lost before, a claim that the store still holds is not taken up again, unless it has been already.
func (s *Session) Abandon(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.abandoned = true
	if s.lost == nil {
		lost := fmt.Errorf("%w: session %s: %w", ErrSessionLost, s.id, ErrAbandoned)
		if reason != nil {
			lost = fmt.Errorf("%w: %w", lost, reason)
		}
		s.markLost(lost, s.clock())
	}
	s.refresh()
}

// The next five are for backends, and package registry/backend documents them.

// renew counts the deadline from sent, and is false if the session was lost before.
func (s *Session) renew(sent time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refresh() == SessionLost {
		return false
	}
	s.renewed = max(s.renewed, sent)
	s.suspended = false
	s.refresh()
	return true
}

// suspend makes the session doubtful until it is renewed.
func (s *Session) suspend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.suspended = true
	s.refresh()
}

// lose ends the session, unless it is over.
func (s *Session) lose(reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost == nil {
		s.markLost(reason, s.renewed) // then the store still had it
	}
	s.refresh()
}

// isAbandoned tells whether the process gave the session up.
func (s *Session) isAbandoned() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.abandoned
}

// closeTime returns for how long the store may be told that the session is over: for as long as it would
// hold the session anyway, but long enough for one try.
func (s *Session) closeTime() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(s.renewed+s.ttl-s.clock(), s.ttl/10)
}

// Suspension begins when two of the three keep-alives that a TTL has room for are missing. The
// same rule covers a machine that slept: its clock shows on waking that they are.
func (s *Session) overdue() time.Duration { return s.renewed + s.ttl*2/3 }

// expiry lies a sixth of the TTL before the moment at which the store could drop the session at the
// earliest: time for the work to notice that it must stop.
func (s *Session) expiry() time.Duration { return s.renewed + s.ttl*5/6 }

// refresh brings the state up to date with the clock, tells of changes, and sets the timer for the
// next one. The caller holds mu.
func (s *Session) refresh() SessionState { return s.refreshAt(s.clock()) }

// refreshAt is refresh at a time of the clock.
func (s *Session) refreshAt(now time.Duration) SessionState {
	if s.lost == nil && now >= s.expiry() {
		s.markLost(fmt.Errorf("no keep-alive was confirmed for %s of a TTL of %s", now-s.renewed, s.ttl), s.renewed+s.ttl)
	}
	state := SessionConnected
	switch {
	case s.lost != nil:
		state = SessionLost
	case s.suspended || now >= s.overdue():
		state = SessionSuspended
	}
	s.now.Store(&standing{state: state, until: s.lookAgain(state, now), expiry: s.expiry(), lost: s.lost})
	s.tell(state) // whoever is told finds it so
	s.schedule(state, now)
	return state
}

// tell tells of a state if it is another than before. The caller holds mu.
func (s *Session) tell(state SessionState) {
	if state == s.shown {
		return
	}
	s.shown = state
	close(s.changed)
	s.changed = make(chan struct{})
	if state == SessionLost {
		close(s.done)
	}
}

// lookAgain returns from when on whoever asks must not rely on what was found now: when the clock may change
// the state, and well before that now and then, because the timer does not see the time that the machine slept.
// Who asks then sets it anew, so that work is told in time, too.
func (s *Session) lookAgain(state SessionState, now time.Duration) time.Duration {
	soon := now + s.ttl/30
	if state == SessionConnected {
		return min(soon, s.overdue())
	}
	return min(soon, s.expiry())
}

// schedule has the timer look again when the state may next change. The clock may run behind the
// timer, or stand still as that of a simulated process does; the least wait keeps it from spinning.
func (s *Session) schedule(state SessionState, now time.Duration) {
	const leastWait = time.Millisecond
	switch {
	case state == SessionLost:
		s.timer.Stop()
	case now < s.overdue():
		s.timer.Reset(max(leastWait, s.overdue()-now))
	default:
		s.timer.Reset(max(leastWait, s.expiry()-now))
	}
}

// check is the timer's function.
func (s *Session) check() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
}

// markLost ends the session, as the next refresh tells. The store drops its nodes at a time of the clock, unless it does by
// itself when the TTL is over. The caller holds mu.
func (s *Session) markLost(reason error, dropped time.Duration) {
	s.dropped = min(dropped, s.renewed+s.ttl)
	if !errors.Is(reason, ErrSessionLost) {
		reason = fmt.Errorf("%w: session %s: %w", ErrSessionLost, s.id, reason)
	}
	s.lost = reason
}
