// Package etcd keeps the registry in an etcd cluster of version 3.5.13 or later, better 3.5.18.
//
//	reg, err := etcd.Open(ctx, etcd.Config{
//		Endpoints: []string{"http://10.0.0.1:2379", "http://10.0.0.2:2379", "http://10.0.0.3:2379"},
//		Namespace: "prod",
//		Logger:    slog.Default(),
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer reg.Close(context.Background())
//
// # What is stored
//
// The node at a path is the key "/<namespace><path>". The key holds the node's value unchanged, so you can
// read the tree with etcd's own tools:
//
//	etcdctl get --prefix /prod/orders/
//
// A parent is no key unless somebody wrote it. An ephemeral node is a key on the lease of its
// session; the id of the lease is the id of the session. The package reads and writes nothing outside
// "/<namespace>/".
//
// # Where the guarantees come from
//
//   - Revisions are etcd's, of the whole store. They never go back, unless an operator restores a
//     backup: then restart all processes.
//   - Every answer names the cluster that it is from. Those of another one than that of most endpoints do not count: a member
//     that was set up afresh at its old address would know of no session and of nothing that ran. An answer that names none,
//     as stores that are like etcd may give, is taken as it is. etcd's grpc-proxy passes on what the cluster says.
//   - A transaction is one etcd transaction. Its conditions become comparisons of revisions and leases. A
//     plain put also checks that the key has no lease, because a put without a lease would detach the key
//     from its session, and the key would outlive its owner. [registry.Overwrite] does not check: of a key
//     that somebody gave to a session it does just that. An update keeps the lease.
//   - Reads are linearizable. A List is one state of the store.
//   - A try gets one second (see [Config]), and is then repeated, because etcd answers a request that was
//     sent to a dead leader late or never. A member that left it without an answer, and has answered nothing else since, is
//     passed over while others are connected that are not like that: the package asks it until it answers, and then it takes
//     its turns again. Which member answers matters to nothing but time. If a transaction conflicts with what its own earlier try may
//     have done, the package settles the outcome by what the conflict shows. One that is not
//     [registry.Txn.Repeatable] is not sent again: its outcome is unknown then.
//   - A view is one read at a revision, and a watch from the next revision on. After a broken connection
//     the watch goes on where it was. After a compaction the package reads the subtree afresh and shows
//     the difference. If a member has lost touch with the majority, the package leaves it for another one.
//     When somebody waits for a revision, the package asks how far the watches are. etcd's answer may come
//     after the news that another watch has begun, though it was given before. The client shows it to that
//     watch, too, which would then count as having brought what it has not. The package leaves such an
//     answer out, and asks again.
//   - The session is one lease for all jobs of the process. A request each third of the TTL keeps it alive.
//     The package counts the session's deadline from the moment when it sent such a request. So the
//     deadline lies before the moment at which any other process can see the nodes vanish. On Linux, the
//     time that the machine slept counts. After a lost session another follows, however often that happens,
//     and on the same lease if the store still has it.
//   - A latch is an election of etcd's concurrency package on the lease of the session: first come,
//     first served, except that callers within one process first take turns among themselves. If a late
//     copy of a request takes a place in the line after its candidate has left, the package gives this
//     place up at once.
//
// # Transactions that travel together
//
// Commits that meet in the same instant share a request, as nested transactions; so do the transactions of
// one CommitAll. Each has its own conditions and its own outcome, and all that were done share a revision.
// etcd judges all conditions of a request on the state before the request. So transactions share a request
// only if none of them writes what another one reads or writes. If etcd will not judge one of them at all,
// because its lease is gone or it is too large, etcd refuses the whole request. The package then repeats
// each transaction by itself. Ten thousand commits at once take about a hundred requests.
//
// A request may get no answer again and again while others do: something on the way drops it, as some proxies do with
// what is too large for them. Then one of its transactions may be the reason. So the package repeats them in smaller
// requests, and soon each by itself, beside what else is sent and not before it. It does so too when nothing at all has had
// an answer for a while, but then they go together again with the first one: the store may have been away. A proxy that says
// what it drops, by HTTP's status 413, has the transaction fail with [registry.ErrTooLarge].
//
// Transactions that follow each other and state the same conditions, as the items of a job do about its config and
// the instance that runs them, state these once. If such a condition does not hold, none of them is done.
//
// # Why a transaction was refused
//
// A transaction does not carry the reads that would explain a refusal, because every member would have to store
// them, and few are refused. The package asks afterwards: one read for all refused transactions of a request, at the
// very revision that refused them, so that a conflict shows what was judged and not what came later. If the store has
// compacted that revision away by then, the transaction is sent again, with its reads. A transaction that is
// repeated because it got no answer carries its reads, too.
//
// # Costs
//
// A handle has one connection to each member and one keep-alive stream. It watches up to 16 subtrees one by one; beyond
// that, one watch of the namespace serves all views. Views of parts, see [registry.ViewParts], have up to 64 watches more,
// and ask how far these are: at once after what others did, and at most ten times a second after what the handle itself did.
// A view costs no goroutine. An idle handle sends only keep-alives and, when its watches were silent for two seconds, a
// question whether they are alive. etcd answers that only when the store has come to where all of them start. So if nobody
// writes for some seconds after a view began, the watches are started once more, from where the store is. Children reads the
// keys of the whole subtree, since etcd knows no children. A handle whose session nobody asks for holds no lease.
//
// # Limits
//
// etcd allows 128 conditions and 128 writes in a transaction, where a plain put counts as a condition, unless it
// overwrites, and a deletion of a subtree as two writes. It allows requests of 1.5 MiB. TTLs are whole seconds, and the
// server grants no less than one and a half of its election timeouts: 2 s by default.
//
// When etcd's leader dies, its successor restarts every lease at its full TTL. If a process dies at the
// same moment, others notice its death that much later. If an endpoint goes dead without a word, the
// connection notices this within 13 s if the endpoint is the only one, and in a third of the session's time if its kernel does
// not even acknowledge what it is sent. With several endpoints, requests pass it over as soon as
// one of them has had no answer within its time, and the views leave it within 5 s, or sooner if requests have found it silent.
//
// # Recommended settings of the server
//
// Switch automatic compaction on: --auto-compaction-mode=periodic --auto-compaction-retention=10m.
// It is off by default; without it, every write stays in the database for good, and at 2 GiB the store is
// full. A full store still serves sessions and deletions, and refuses everything else with
// [registry.ErrNoSpace], until an operator compacts, defragments and disarms the alarm. What is on its way in the
// moment in which the store becomes full, etcd may carry out and refuse all the same. Then a commit asks what has become of
// it, and if that cannot be told, its error is [registry.ErrUnknownOutcome]. Watch the size
// of the database and the latency of fsync. ServerTime needs HTTP on the address of the clients,
// which is etcd's default; with --listen-client-http-urls nobody notices a clock that is off.
//
// # What it does not do
//
// It starts no server; package embedded, below this one, does. It encrypts nothing beyond TLS and
// manages no users.
package etcd
