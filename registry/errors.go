package registry

import (
	"context"
	"errors"
	"fmt"
)

// What callers branch on. Backends wrap these and keep the store's own error as the cause.
var (
	// ErrNotFound: there is no node at the path.
	ErrNotFound = errors.New("node not found")
	// ErrConflict: a condition of the transaction did not hold; see [ConflictError].
	ErrConflict = errors.New("conflict")
	// ErrOwned: a plain put on a node that a session owns.
	ErrOwned = errors.New("node is owned by a session")
	// ErrSessionLost: the session is over. Its work must stop, its successor must start afresh.
	ErrSessionLost = errors.New("session lost")
	// ErrAbandoned: the process gave the session up; see [Session.Abandon].
	ErrAbandoned = errors.New("session given up")
	// ErrTooLarge: the transaction or the value is beyond the backend's limit.
	ErrTooLarge = errors.New("transaction too large")
	// ErrNoSpace: the store is full and refuses writes; an operator must make room.
	ErrNoSpace = errors.New("registry is out of space")
	// ErrUnavailable: the store did not answer in time and certainly changed nothing.
	ErrUnavailable = errors.New("registry unavailable")
	// ErrNotSent: the time until which the transaction made sense was over before it could be sent, see
	// [Turn]. Nothing was written.
	ErrNotSent = errors.New("not sent in time")
	// ErrUnknownOutcome: the store did not answer in time and may or may not have done the writes.
	ErrUnknownOutcome = errors.New("outcome unknown")
	// ErrDenied: the store refuses this user, or this client's certificate.
	ErrDenied = errors.New("registry access denied")
	// ErrInvalid: the call itself is wrong; repeating it will not help.
	ErrInvalid = errors.New("invalid")
	// ErrUnsupported: the backend or its deployment cannot do this.
	ErrUnsupported = errors.New("unsupported by this registry")
	// ErrClosed: the handle or the view was closed.
	ErrClosed = errors.New("registry closed")
)

// LookAgain tells of a commit whether to read and decide again: somebody was faster, or the answer was lost while there is
// time, and what is read shows what has become of it. A copy of a lost request may still be carried out later, so decide
// again only by what such a copy finds changed.
func LookAgain(ctx context.Context, err error) bool {
	return errors.Is(err, ErrConflict) || errors.Is(err, ErrUnknownOutcome) && ctx.Err() == nil
}

// ConflictError says which condition of a transaction did not hold, and what was there instead.
// errors.Is(err, ErrConflict) is true for it.
type ConflictError struct {
	// Condition is the first one that did not hold, stated or implied by a write.
	Condition Condition
	// Found is the node at the condition's path when it was judged; the zero Node if absent.
	Found Node
	// Revision is a state of the store at which the conflict was there. A view that has reached it
	// (see [View.WaitRevision]) shows what the decision missed.
	Revision Revision
	// Ambiguous tells that an earlier try of the same transaction got no answer. It may have been
	// done, and then be what this try conflicted with.
	Ambiguous bool
}

// Error names the condition and what was found.
func (e *ConflictError) Error() string {
	text := fmt.Sprintf("conflict: want %s, found %s", e.Condition, e.Found)
	if e.Ambiguous {
		text += " (an earlier try of this transaction got no answer)"
	}
	return text
}

// Is makes errors.Is(err, ErrConflict) true.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// What an [OpError] says was tried.
const (
	OpGet        = "get"
	OpList       = "list"
	OpChildren   = "children"
	OpCommit     = "commit"
	OpView       = "view"
	OpSession    = "session"
	OpLatch      = "latch"
	OpServerTime = "server time"
	OpOpen       = "open"
	OpClose      = "close"
)

// OpError says what was tried on which path. errors.Is and errors.As see its cause.
type OpError struct {
	Op   string // [OpGet] and its like
	Path string // of the call; for a commit its first write; may be empty
	Err  error
}

// Error reads "get /orders/config: node not found".
func (e *OpError) Error() string {
	if e.Path == "" {
		return e.Op + ": " + e.Err.Error()
	}
	return e.Op + " " + e.Path + ": " + e.Err.Error()
}

// Unwrap gives the cause.
func (e *OpError) Unwrap() error { return e.Err }
