package access

import (
	"context"
	"time"
)

// The ways by which somebody is known.
const (
	BySession = "session"
	ByToken   = "token"
	ByProxy   = "proxy"
	ByNothing = "none"
)

// Identity is who asks. The zero Identity is nobody, who may do nothing.
type Identity struct {
	Name   string
	How    string // BySession, ByToken, ByProxy or ByNothing
	Grants []Grant
	// Until is when this ends if nothing else happens; zero if it does not.
	Until time.Time

	still func() bool
}

// Valid tells whether this is still so: Until has not come, and nobody has taken the session, the token or the grants
// away. It is for what takes longer than a request, such as a stream. Whoever has other grants by now must ask anew.
func (id Identity) Valid(now time.Time) bool {
	switch {
	case id.Name == "", !id.Until.IsZero() && !now.Before(id.Until):
		return false
	case id.still == nil:
		return true
	default:
		return id.still()
	}
}

type identityKey struct{}

// NewContext returns a context of somebody's request. The guard makes those; others do so in tests.
func NewContext(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// FromContext returns who asks; nobody if the request did not come by a guard.
func FromContext(ctx context.Context) Identity {
	id, _ := ctx.Value(identityKey{}).(Identity)
	return id
}
