package registry

import (
	"context"
	"time"
)

// Registry is one process's handle on a namespace of the store. It is the sum of the small roles
// below; a function that needs one of them should ask for that one.
//
// A handle and everything obtained from it are safe for concurrent use.
type Registry interface {
	Reader
	Committer
	Viewer
	Sessioner
	Latcher
	Clock

	// Close ends the session gracefully, so that its ephemeral nodes vanish at once, stops every
	// view and latch, and returns when no goroutine of the handle is left. Close tries to
	// tell the store until the store would have dropped the session by itself. So it returns within a TTL,
	// even if the store never answers; the context may make that shorter, never longer. A
	// close that did not get through leaves the nodes to the store until the TTL has passed, and
	// Close says so in its error, which is [ErrUnavailable]. Calls after the first return the same
	// result. Everything else fails with [ErrClosed] afterwards. It waits for subscribers of views, whatever its context says:
	// they must not block, and none may call it.
	Close(ctx context.Context) error
}

// JavaLayout is what a [Registry] has besides if its nodes lie where Java instances of Elastic-Job-Lite look
// for them, so that such instances may take part in the same jobs.
type JavaLayout interface {
	// JavaLayout returns the path in the store below which the registry's nodes lie, and whether they lie as
	// Java instances want.
	JavaLayout() (root string, ok bool)
}

// JavaRoot returns what a registry says of itself as a [JavaLayout]; ok is false if it is none.
func JavaRoot(of Reader) (root string, ok bool) {
	if layout, is := of.(JavaLayout); is {
		return layout.JavaLayout()
	}
	return "", false
}

// Reader reads the store itself, not a copy: an answer reflects every commit that was answered
// before the call began. Each call is one request, except on ZooKeeper, where List and Children read node by node.
// Decisions should be made from a [View] instead.
//
// Errors: [ErrInvalid] for a malformed path, [ErrUnavailable] when the context ends before the
// store answered (it wraps the context's error), [ErrDenied], [ErrClosed].
type Reader interface {
	// Get returns the node at path, or [ErrNotFound].
	Get(ctx context.Context, path string) (Node, error)

	// List returns the node at path, if there is one, and all nodes below it, in ascending order of
	// their paths, and the revision at which the list is true. Where the backend can (etcd, memory)
	// it is one consistent state. A path without nodes gives an empty list and no error.
	List(ctx context.Context, path string) ([]Node, Revision, error)

	// Children returns the names of the immediate children of path, in ascending order, also of
	// those that exist only because a descendant does. A path without children gives none.
	Children(ctx context.Context, path string) ([]string, error)
}

// Committer changes the store.
//
// Errors of one transaction: a [*ConflictError] (which is [ErrConflict]) if a condition did not
// hold; [ErrOwned] for a plain put on a node that a session owns, in some stores also for one that
// overwrites it; [ErrSessionLost] if it writes in a session that is over, whether the store or only this
// process knows that yet; [ErrTooLarge] beyond
// the backend's limits; [ErrNoSpace] when the store refuses writes because it is full; [ErrInvalid]
// for a malformed path, a path written twice, or an empty transaction; [ErrUnknownOutcome] if it is
// not known whether the transaction was done, or will be, and the context ended or it must not be
// repeated; [ErrUnavailable] if the context ended and it certainly was not done; [ErrNotSent] if its
// [Turn] was over before it was sent; [ErrDenied]; [ErrClosed]. After every error but
// [ErrUnknownOutcome], nothing was written.
type Committer interface {
	// Commit carries out one transaction and returns its revision. Commits that meet may travel in
	// one request and then share a revision; each keeps its own conditions and its own outcome.
	//
	// When an answer gets lost, a transaction that is [Txn.Repeatable] is repeated until there is one.
	// The store may carry out a copy later, after other commits; [Txn.Repeat] says why that does no
	// harm. Any other is sent again only if it certainly was not carried out and never will be,
	// and fails with [ErrUnknownOutcome] otherwise: it is done at most once, perhaps after Commit
	// returned.
	Commit(ctx context.Context, txn Txn) (Revision, error)

	// CommitAll carries out independent transactions with as few requests as the backend's limits
	// allow, each with its own outcome at the same index. The effect is that of committing them one
	// by one in order: transactions that touch each other's paths do not share a request.
	CommitAll(ctx context.Context, txns []Txn) []Outcome
}

// Outcome is the result of one transaction of [Committer.CommitAll].
type Outcome struct {
	Revision Revision // of the commit; 0 if Err is not nil
	Err      error    // as [Committer] lists them
}

// Viewer follows a subtree.
type Viewer interface {
	// View returns a copy of the subtree at path, the node itself included, that follows the store
	// until ctx ends, [View.Close] or the handle's Close. It returns when the first state is there.
	// ctx bounds the call, and the view ends when ctx does: do not give it one with a timeout. A view
	// costs no goroutine of its own.
	//
	// Nodes of whose paths one of the functions of except says true are no part of the copy: the view neither keeps
	// them nor tells of them. Each must be quick, and always say the same of a path.
	View(ctx context.Context, path string, except ...func(path string) bool) (*View, error)
}

// Sessioner gives the process's session.
type Sessioner interface {
	// Session returns the session in force, and waits for one while there is none. A handle has one
	// session at a time, shared by all jobs; when it is lost a new one follows, for ever.
	//
	// Errors: [ErrClosed], or [ErrUnavailable] with the context's error when ctx ends first.
	Session(ctx context.Context) (*Session, error)
}

// Latcher runs code as the only one.
type Latcher interface {
	// Latch waits until this handle is the only holder of the latch at path, runs fn, and lets go.
	// Waiters are served in the order of their arrival. The latch of a holder that dies is released
	// with its session. The context given to fn ends when the latch may have been lost: with [ErrSessionLost]
	// as its cause, or with [ErrConflict] if somebody removed the node with which the holder stands in the
	// store, as the removal of what lies around it does. The backend documents how soon it sees that.
	//
	// A latch only orders those who contend; what must be safe is guarded by the transactions that
	// fn commits. Hold it for one short callback. Latch returns fn's error; if fn never ran, it
	// returns the reason: [ErrSessionLost], [ErrClosed], or [ErrUnavailable] when ctx ended first.
	Latch(ctx context.Context, path string, fn func(ctx context.Context) error) error
}

// Clock asks the store for the time.
type Clock interface {
	// ServerTime returns the store's clock, as exact as the backend documents it. It costs one
	// request or more. A backend or deployment without a clock returns [ErrUnsupported].
	ServerTime(ctx context.Context) (time.Time, error)
}
