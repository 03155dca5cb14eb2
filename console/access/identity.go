package access

import (
	"context"
	"slices"
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

	look func() (grants []Grant, known bool) // what they are granted by now, if they are still known; nil: what Grants says
}

// Valid tells whether this is still so: Until has not come, and nobody has taken the session, the token or the grants
// away. It is for what takes longer than a request, such as a stream. Whoever has other grants by now must ask anew.
func (id Identity) Valid(now time.Time) bool {
	again := id.Again(now)
	return again.Name != "" && slices.Equal(again.Grants, id.Grants)
}

// Again returns who this is by now, with what they are granted by now: nobody, if Until has come, or the session or the token
// was taken away. It is for what was let in a while ago and is about to be done.
func (id Identity) Again(now time.Time) Identity {
	switch {
	case id.Name == "", !id.Until.IsZero() && !now.Before(id.Until):
		return Identity{}
	case id.look == nil:
		return id
	}
	grants, known := id.look()
	if !known {
		return Identity{}
	}
	id.Grants = grants
	return id
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
