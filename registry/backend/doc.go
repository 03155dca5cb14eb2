// Package backend is for authors of a backend: of a package that implements [registry.Registry] over one
// more store, such as Consul. It has what every backend does in the same way. Users of a registry do not
// need it.
//
// # What to build
//
// A backend is a package with an Open function and a handle that implements [registry.Registry]. The
// comments of that interface, and of package registry, are the contract. [registry/registrytest] is the
// suite that holds a backend to it. Write the test that calls the suite before the first method, and watch
// it fail. The backend is ready when the suite passes. If the store cannot do what a case needs, the test
// must declare that, with the reason.
//
// In this order, one theme of the suite after the other passes:
//
//  1. Reads. Check a path with [registry.CheckPath], or with [CheckSubtree] where the root is allowed.
//     Translate the store's errors into those of package registry where they enter your code, and keep them
//     as causes. Wrap what a method returns in a [registry.OpError].
//  2. Transactions. Refuse what [registry.Txn.Check] refuses. Let the store judge all conditions that
//     [registry.Txn.Guards] returns, and do all writes, in one atomic request. If the store knows no such
//     conditions, judge them with [registry.Condition.Holds] on nodes that you have read, and send the writes
//     under the condition that none of these nodes has changed. Report the first condition that does not
//     hold as a [registry.ConflictError]. Keep the order of [registry.Turn] wherever transactions wait.
//  3. Lost answers. A request without an answer may have been carried out. Send the transaction again only if
//     [registry.Txn.Repeatable] allows it, and otherwise end it with [NotRepeated]. If the store refuses the
//     repetition, [Settle] judges whether the first try was done.
//  4. Sessions. Read a [SessionClock], ask the store for a session, and make it with [NewSession]. Send a
//     keep-alive about three times in a TTL, and report the result through [SessionControl]: Renew with the
//     time at which the confirmed one was sent, Suspend when the connection breaks, Lose when the store has
//     ended the session. The session itself computes its deadline, and tells its users. When it is lost, make
//     the next one. If the store still holds the old claim, take it up again, unless
//     [SessionControl.Abandoned] says that the process gave it up.
//  5. Views. Read the subtree, make the view with [NewView], and bring it through its [Feed] what the store's
//     watch reports: Apply for events, Replace with a fresh copy if the store no longer knows what changed.
//     The feed leaves out what the view has shown already, and computes differences.
//  6. Latches, the store's clock, and Close. For these the package has [CloseTime] only, which bounds how
//     long Close may try to end the session in the store.
//
// # An example
//
// The method View of a handle whose store is read with list and watched with watch:
//
//	func (r *Registry) View(ctx context.Context, path string, except ...func(path string) bool) (*registry.View, error) {
//		if err := backend.CheckSubtree(path); err != nil {
//			return nil, &registry.OpError{Op: registry.OpView, Path: path, Err: err}
//		}
//		nodes, revision, err := r.list(ctx, path)
//		if err != nil {
//			return nil, &registry.OpError{Op: registry.OpView, Path: path, Err: err}
//		}
//		w := r.watch(path, revision) // it brings what has changed since revision
//		view, feed := backend.NewView(path, registry.NewSnapshot(revision, nodes), w.askRevision, w.stop, except...)
//		w.unbind = context.AfterFunc(ctx, func() { feed.End(context.Cause(ctx)) }) // stop calls unbind
//		w.start(feed) // from now on, the goroutine of the handle's watches calls feed.Apply
//		return view, nil
//	}
//
// [NewView], [NewSession] and [Settle] have examples that run. Package [registry/memory] is a complete
// backend without a network.
//
// # What it does not do
//
// It knows no store and has no goroutines: connections, retries and watches are the backend's own.
//
// # How it reaches views and sessions
//
// [registry.View] and [registry.Session] are types of package registry, and their fields are not exported: a
// user can neither feed a view nor renew a session. The few functions that do so belong to package registry,
// which lends them to this package through package registry/internal/access. The compiler checks the
// signatures on both sides. So the documentation of package registry is for its users, and this package
// has the names and the documentation for authors of backends.
//
// [registry/registrytest]: https://pkg.go.dev/github.com/elasticron/elasticron/registry/registrytest
// [registry/memory]: https://pkg.go.dev/github.com/elasticron/elasticron/registry/memory
package backend
