// Package registry is the interface between Elasticron and the store that coordinates it.
//
// A registry is a small tree of nodes below a namespace. A node has a path, a text value, the
// revisions of its creation and of its last change, and, if it is ephemeral, the session that owns
// it. Elasticron keeps everything that it knows about a job in such nodes. Whenever two processes must
// agree on something, one of them commits a guarded transaction over these nodes.
//
// # If you only run jobs
//
// Open one handle per process with a backend, give it to scheduler.New, and close it after Run has returned:
//
//	reg, err := etcd.Open(ctx, etcd.Config{Endpoints: endpoints, Namespace: "shop"})
//	defer reg.Close(context.Background())
//
//	registry/etcd      etcd 3.5.13 or later: what most applications want
//	registry/zkcompat  ZooKeeper, in the layout of Elastic-Job-Lite, also beside live Java instances
//	registry/memory    within one process, for tests
//
// The handle has a [Session] with the store, which it keeps alive. If the store cannot be reached for longer than
// the session's TTL, the session is lost: other processes take over, and the contexts of running items end with
// the cause [ErrSessionLost]. Of the errors below you will see mostly [ErrUnavailable], [ErrClosed], and from
// calls that change something [ErrUnknownOutcome]: nobody can tell whether it was done.
//
// # If you read and write nodes
//
// Read what you must know with a [View], decide, and make the decision real with one [Txn],
// whose conditions say what the decision relied on:
//
//	view, err := reg.View(ctx, "/orders")
//	total := view.Snapshot().Get("/orders/total")
//	_, err = reg.Commit(ctx, registry.Txn{
//		If:   []registry.Condition{registry.Unchanged("/orders/total", total.Revision)},
//		Then: []registry.Write{registry.Put("/orders/total", "4")},
//	})
//
// On a [ConflictError] wait until the view has reached [ConflictError.Revision], and decide again. The
// example of the package shows the whole loop.
//
// # What a backend guarantees
//
//   - Revisions grow. Every commit that writes gets a revision that is larger than all earlier ones, for
//     all paths of the store together. All its writes carry this one revision.
//   - Transactions are atomic and guarded. Either every condition holds and every write is done, or
//     nothing is done. No reader, no view and no other transaction sees a part of a transaction. A failed
//     condition is a [ConflictError] that names the condition.
//   - Ephemeral nodes live as long as their session, and the session is kept alive for as long as the
//     process can reach the store. When the session ends, its nodes vanish together, in one revision. No
//     other session and no plain write can take such a node over; an [Overwrite] can make it persistent. In
//     some stores an ephemeral node cannot have descendants: there, a transaction that would give it one is
//     refused with [ErrUnsupported].
//   - Views are level-triggered. A [View] shows states in order and may skip states in between. It always
//     reaches the latest state, whatever happens to connections, servers or history.
//   - An answer is an answer. If the outcome of a transaction is unknown, a [Committer] repeats the
//     transaction until the store answers or the context ends, and then returns [ErrUnknownOutcome]. It
//     never reports a guess. It does not repeat a transaction that must not be repeated.
//
// # What may be repeated
//
// The store may carry out a request without an answer at any later time, even after it has answered a
// repetition of the request, and after other clients have written. So a transaction may be repeated only
// if a late copy of it has no effect. To achieve this, give the transaction a condition that its own
// writes make false for good: [Unchanged] of a node that it writes, or [CreatedAt] of one that it
// deletes. Nothing more is needed. If no such condition is possible, say in [Txn.Repeat] why a late copy
// does no harm. If a transaction has neither, its caller may get an [ErrUnknownOutcome] and must deal
// with it: read and decide again, if doing it twice is no harm, or else report the error to its own caller.
//
// # Paths
//
// A path starts with a slash and is relative to the namespace of the handle: "/orders/config". It
// has no empty, "." or ".." segment, no control character, and no slash at its end. The root of the
// namespace is "/". You can list and view the root, but not write it. A parent exists while a descendant
// does: it is listed as a child, but it is not a node of its own unless somebody wrote it, and a read of
// it returns [ErrNotFound].
//
// # What it does not do
//
// It does not interpret paths or values; the scheduler and the tools do. It promises no history: if a value is
// overwritten before a view has seen it, the view never shows it. It stores no secrets, and checks no
// permissions beyond those of the backend.
//
// Package [registry/backend] tells how to write a backend for one more store, and has what only backends
// need.
//
// [registry/backend]: https://pkg.go.dev/github.com/elasticron/elasticron/registry/backend
//
// [registry/etcd]: https://pkg.go.dev/github.com/elasticron/elasticron/registry/etcd
// [registry/zkcompat]: https://pkg.go.dev/github.com/elasticron/elasticron/registry/zkcompat
// [registry/memory]: https://pkg.go.dev/github.com/elasticron/elasticron/registry/memory
package registry
