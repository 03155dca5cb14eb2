// Package etcd keeps the registry in an etcd cluster of version 3.5.8 or later.
//
//	reg, err := etcd.Open(ctx, etcd.Config{
//		Endpoints: []string{"http://10.0.0.1:2379", "http://10.0.0.2:2379", "http://10.0.0.3:2379"},
//		Namespace: "prod",
//	})
//
// # What is stored
//
// The node at a path is the key "/<namespace><path>", with the node's value as it stands, so that
// the tree can be read with etcd's own tools:
//
//	etcdctl get --prefix /prod/orders/
//
// A parent is no key unless somebody wrote it. An ephemeral node is a key on the lease of its
// session; the id of the lease is the id of the session. Nothing is read or written outside
// "/<namespace>/".
//
// # Where the guarantees come from
//
//   - Revisions are etcd's, of the whole store. They never go back, unless an operator restores a
//     backup: then restart all processes.
//   - A transaction is one etcd transaction: conditions become comparisons of revisions and leases. A
//     plain put also compares the lease with none, because a put without a lease would detach the key
//     from its session and make it outlive its owner; an update keeps the lease.
//   - Reads are linearizable. A List is one state of the store.
//   - A try gets one second (see [Config]), and is then repeated, because a request that was sent to
//     a leader that died is answered late or never. Transactions that conflict with what an earlier
//     try of theirs may have done are settled by what the conflict shows. An unguarded transaction
//     may be done more than once.
//   - A view is one read at a revision and a watch from the next one on. After a broken connection the
//     watch goes on where it was; after a compaction the subtree is read afresh and the difference is
//     shown. A member that has lost touch with the majority is left for another one.
//   - The session is one lease for all jobs of the process, kept alive by a request each third of its
//     TTL. Its deadline is reckoned from when such a request was sent, and lies before the moment at
//     which any other process can see the nodes vanish. On Linux, time that the machine slept counts.
//     A lost session is followed by another for ever, on the same lease if the store still has it.
//   - A latch is an election of etcd's concurrency package on the lease of the session: first come,
//     first served, except that callers within one process take turns among themselves first. A place in
//     the line that a late copy of a request takes when its candidate has left is given up at once.
//
// # Transactions that travel together
//
// Commits that meet in the same instant, and those of one CommitAll, share a request as nested
// transactions, each with its own conditions and its own outcome; all that were done share a
// revision. etcd judges all conditions of a request on the state before it. So only transactions
// share one of which none writes what another reads or writes. One that etcd will not judge at all,
// because its lease is gone or it is too large, has the request refused as a whole; it is then
// repeated with each transaction by itself. Ten thousand commits at once take about a hundred requests.
//
// # Costs
//
// A handle has one connection to each member and one keep-alive stream. Up to 16 subtrees are watched
// one by one; beyond, one watch of the namespace serves all views. A view costs no goroutine. Nothing
// is sent for an idle handle but keep-alives and, when its watches were silent for two seconds, a
// question whether they are alive. Children reads the keys of the whole subtree, since etcd knows no
// children. A handle whose session is never asked for holds no lease.
//
// # Limits
//
// etcd allows 128 conditions and 128 writes in a transaction, where a plain put counts as a condition
// and a deletion of a subtree as two writes, and requests of 1.5 MiB. TTLs are whole seconds, and the
// server grants no less than one and a half of its election timeouts: 2 s by default.
//
// When etcd's leader dies, its successor restarts every lease at its full TTL: a process that died at
// the same moment is noticed that much later. A single endpoint that goes dead without a word is
// noticed after 13 s by the connection, with several endpoints after 5 s by the views.
//
// # Recommended settings of the server
//
// Switch automatic compaction on, --auto-compaction-mode=periodic --auto-compaction-retention=10m:
// it is off by default, every write then stays in the database for good, and at 2 GiB the store is
// full. A full store lets sessions and deletions go on and refuses everything else with
// [registry.ErrNoSpace], until an operator compacts, defragments and disarms the alarm. Watch the size
// of the database and the latency of fsync. ServerTime needs HTTP on the address of the clients,
// which is etcd's default.
//
// # What it does not do
//
// It starts no server; package embedded, below this one, does. It encrypts nothing beyond TLS and
// manages no users.
package etcd
