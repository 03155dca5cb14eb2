// Package registry is the seam between Elasticron and the store that coordinates it.
//
// A registry is a small tree of nodes below a namespace. A node has a path, a text value, the
// revisions of its creation and of its last change, and, if it is ephemeral, the session that owns
// it. Everything that Elasticron knows about a job is such nodes, and everything that two processes
// must agree on is one guarded transaction over them.
//
// # What a backend guarantees
//
//   - Revisions grow. Every commit that writes gets a revision larger than all before it, for all
//     paths of the store together, and all its writes carry that one revision.
//   - Transactions are atomic and guarded. Either every condition holds and every write is done, or
//     nothing is. No reader, no view and no other transaction sees a part of one. A failed condition
//     is a [ConflictError] that names it.
//   - Ephemeral nodes live as long as their session, which is kept alive for as long as the process
//     can reach the store, and vanish together, in one revision, when it ends. No other session and
//     no plain write can take such a node over.
//     Not every store lets such a node have descendants: where it does not, a transaction that would
//     give it one is refused with [ErrUnsupported].
//   - Views are level-triggered. A [View] shows states in order, may skip states between two that it
//     shows, and always reaches the latest, whatever happens to connections, servers or history.
//   - An answer is an answer. A [Committer] repeats a transaction whose outcome is unknown until the
//     store answers or the context ends, and then says so with [ErrUnknownOutcome]; it never reports
//     a guess. What must not be repeated it does not repeat.
//
// # What may be repeated
//
// A request without an answer may be carried out at any later time, also after its repetition was
// answered, and after whatever was done since. So a transaction may be repeated only if a late copy
// of it comes to nothing. Give each a condition that its own writes end for good, [Unchanged] of a
// node that it writes or [CreatedAt] of one that it deletes, and nothing more is needed. Where that
// cannot be, say in [Txn.Repeat] why a late copy does no harm. Of a transaction without either, the
// caller gets an [ErrUnknownOutcome] to deal with: by reading and deciding again if being done twice
// is no harm, or else by telling whoever asked.
//
// # Paths
//
// A path starts with a slash and is relative to the namespace of the handle: "/orders/config". It
// has no empty, "." or ".." segment, no control character, and no slash at its end. The root of the
// namespace is "/" and can be listed and viewed, not written. A parent exists while a descendant
// does: it can be listed as a child, but it is no node of its own unless somebody wrote it, and
// reads of it answer [ErrNotFound].
//
// # How to use it
//
// Open a handle with a backend ([registry/etcd], [registry/zkcompat], [registry/memory]), once per
// process. Read what must be known with a [View], decide, and make the decision real with one [Txn]
// whose conditions say what the decision relied upon. On a [ConflictError] wait until the view has reached
// [ConflictError.Revision] and decide again.
//
// # What it does not do
//
// It does not interpret paths or values; that is package jobtree's. It promises no history: a value
// that was overwritten before a view saw it is never shown. It stores no secrets and checks no
// permissions beyond those of the backend.
//
// [registry/etcd]: https://pkg.go.dev/github.com/elasticron/elasticron/registry/etcd
// [registry/zkcompat]: https://pkg.go.dev/github.com/elasticron/elasticron/registry/zkcompat
// [registry/memory]: https://pkg.go.dev/github.com/elasticron/elasticron/registry/memory
package registry
