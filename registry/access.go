package registry

import "github.com/elasticron/elasticron/registry/internal/access"

// Package registry/backend makes and drives views and sessions with these. They are not exported, so that
// the documentation of this package is that of its users.
func init() {
	access.Offer(access.Views[View, Snapshot, Change, Revision]{
		New:     newView,
		Move:    (*View).move,
		End:     (*View).end,
		Changed: Snapshot.changed,
	})
	access.Offer(access.Sessions[Session, SessionID]{
		New:       newSession,
		Renew:     (*Session).renew,
		Suspend:   (*Session).suspend,
		Lose:      (*Session).lose,
		Abandoned: (*Session).isAbandoned,
		CloseTime: (*Session).closeTime,
	})
}
