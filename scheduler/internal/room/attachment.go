package room

import (
	"context"
	"time"

	"github.com/elasticron/elasticron/registry"
)

// Attachment is the process's present session together with the context of all work under it. Work
// keeps the attachment that it started under, so that it can never be taken for its successor's.
type Attachment struct {
	Session *registry.Session
	Since   time.Time       // when it began here
	Ctx     context.Context // of commits; ends with the session, with its error as the cause
	Cancel  context.CancelCauseFunc

	Work       context.Context // of items; ends with Ctx, or when a stop cancels them
	CancelWork context.CancelCauseFunc
}

// NewAttachment makes the attachment of a session.
func NewAttachment(parent context.Context, session *registry.Session) *Attachment {
	a := &Attachment{Session: session, Since: time.Now()}
	a.Ctx, a.Cancel = context.WithCancelCause(parent)
	a.Work, a.CancelWork = context.WithCancelCause(a.Ctx)
	return a
}

// Connected tells whether new work may start. A nil attachment, as before the first session, is not.
func (a *Attachment) Connected() bool {
	return a != nil && a.Session.State() == registry.SessionConnected
}

// Lasts tells whether something can still be recorded under the session. A nil attachment does not.
func (a *Attachment) Lasts() bool {
	return a != nil && a.Ctx.Err() == nil && a.Session.State() != registry.SessionLost
}
