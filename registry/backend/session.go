package backend

import (
	"time"

	"github.com/elasticron/elasticron/registry"
	"github.com/elasticron/elasticron/registry/internal/access"
)

var sessions = access.Take[access.Sessions[registry.Session, registry.SessionID]]()

// SessionControl is the backend's side of a [registry.Session]. All methods may be called concurrently.
type SessionControl struct{ session *registry.Session }

// NewSession makes a session that the store granted or confirmed in answer to a request sent at
// sent on clock.
func NewSession(id registry.SessionID, ttl time.Duration, clock SessionClock, sent time.Duration) (*registry.Session, *SessionControl) {
	session := sessions.New(id, ttl, clock, sent)
	return session, &SessionControl{session}
}

// Renew records that the store confirmed the session in answer to a keep-alive sent at sent. It
// returns false if the session was lost meanwhile: an answer that comes too late revives nothing.
func (c *SessionControl) Renew(sent time.Duration) bool { return sessions.Renew(c.session, sent) }

// Suspend marks the session as doubtful until the next Renew, as when the connection broke.
func (c *SessionControl) Suspend() { sessions.Suspend(c.session) }

// Lose ends the session for the given reason. Later calls change nothing.
func (c *SessionControl) Lose(reason error) { sessions.Lose(c.session, reason) }

// Abandoned tells whether the process gave the session up with [registry.Session.Abandon], be it before the
// session was lost or after, so that its successor needs another claim.
func (c *SessionControl) Abandoned() bool { return sessions.Abandoned(c.session) }

// CloseTime returns for how long a handle that is being closed may try to tell the store that the
// session is over: for as long as the store would hold it anyway, which is the TTL at most. It is never
// less than a tenth of the TTL, the time for one try, because a store that was down holds sessions for
// longer.
func CloseTime(s *registry.Session) time.Duration { return sessions.CloseTime(s) }
