// Package zkcompat keeps the registry in an Apache ZooKeeper ensemble of version 3.8 or later, in the
// layout and with the manners of Elastic-Job-Lite 2.1.5, so that Go and Java instances can share a job.
//
//	reg, err := zkcompat.Open(ctx, zkcompat.Config{
//		Servers:   []string{"10.0.0.1:2181", "10.0.0.2:2181", "10.0.0.3:2181"},
//		Namespace: "prod",
//		Digest:    "scheduler:secret",
//	})
//
// # What is stored
//
// The node at a path is the znode "/<namespace><path>", with the node's value as it stands. An ephemeral
// node is an ephemeral znode; the id of its session is that of the ZooKeeper session. With
// [Config.Digest] every znode is created for that user alone (scheme "auth"), without it for the world
// . Missing parents are created with a node, in the same transaction, persistent and empty as
// Java's are.
//
// ZooKeeper keeps parents when their children go; the registry does not know them. An empty znode to
// which nobody wrote after its creation counts as a parent, which is no node, if it ever had a child.
// So what Java creates empty and without children, as servers/<ip> or necessary, is a
// node. A parent of Java's that has not got its first child yet shows as an empty node for a moment.
// Deleting a subtree deletes parents too; deleting a node leaves its parents standing, because a Java
// leader relies on sharding/<item> being there.
//
// Two cases that a job's tree never has need a form of their own, which begins with a zero byte: a node
// that is deleted while it has children, and one that is put where only a parent stood.
//
// # Where the guarantees come from
//
//   - Revisions are ZooKeeper's transaction ids: Created is czxid, Revision is mzxid. A commit that only
//     deletes learns no id; its revision is one that the server had reached when it answered.
//   - A transaction is one multi. The znodes that it concerns are taken from a view of this handle, or
//     read; the conditions are judged on that; and each operation of the multi names the version that
//     was seen, or creates what was absent. What was to stay absent is created and deleted again in the
//     multi: no reader, view or peer ever sees it. If anything has changed, the multi fails as a whole
//     and all is read again. A refusal is given only on what the leader knew.
//   - A znode that this package creates is created empty and set in the same multi. So its version is 1
//     where a Java peer's is 0, and the answer tells the revision.
//   - Reads ask the server to catch up with the leader first (sync), so they show every commit that was
//     answered before. List reads node by node: all commits up to its revision are in it, and some later
//     ones may be, in part.
//   - When the connection breaks with a multi under way, its outcome is unknown. It is found out on the
//     next connection, as [registry.Settle] says. A transaction that its own writes make false is done
//     at most once; any other may be done again. One that was under way when the server dropped the
//     session cannot be done any more; if nothing of it is there, it was not.
//   - CommitAll has the multis of transactions that do not touch each other's paths under way at once.
//     Each is atomic by itself and has a revision of its own.
//
// # What a version cannot tell
//
// ZooKeeper compares versions, which start again at 0 when a znode is created anew, and cannot compare
// its creation or its owner. Unchanged, CreatedAt and NotOwnedBy are judged on what was read, and the
// multi then checks the version. So one race is left: between the reading and the multi, usually less
// than a millisecond, or since the last event if a view had the znode, another client deletes the znode
// and creates it anew and brings it to the same version.
//
// It cannot concern a node of this process's own session: whoever else creates it has another session,
// and when this one is over its multi fails. Nor can two creators win, because a create only creates.
// It can concern persistent nodes that are deleted and created, not set, with the same number of writes
// since. Go instances set those that they compare; a resharding of a Java leader deletes and creates
// sharding/<item>/instance, at version 0 every time, so a begin may be compared with an assignment that
// has just been replaced. And it can concern nodes of other sessions, such as the mark of a run that
// another process ended and a third began meanwhile; those are protected by the records that every
// transaction of Go sets (docs/protocol.md).
//
// # Sessions
//
// A handle has one ZooKeeper session, on one connection. The deadline of a [registry.Session] is
// reckoned from when a sync was sent that the leader's side answered; one is sent each sixth of the
// timeout. The client's own pings prove nothing: a server that is cut off from the leader answers them
// too. A broken connection suspends the session at once. If the connection comes back in time, nothing
// else happens and nothing is written, so that peers see no crash. If it comes back after the
// local deadline and the server still has the session, a new [registry.Session] of the same id takes it
// up, with its nodes. If the server has dropped it, another session follows on a client of its own:
// nothing that was meant for one session is ever done in the next.
//
// After an outage of the whole ensemble the servers give every session its full timeout again, so the
// nodes of a process that died meanwhile stay for that long. Choose a timeout of three ticks or more:
// servers tell the leader of living sessions every half tick, and that must fit into the sixth of the
// timeout by which this process stops early.
//
// # Views
//
// A view is a recursive watch and a read of the subtree, and then a read of each znode of which the
// server tells a change. A server tells a client of a change before it answers anything that knows of
// it. A view moves on when no told change waits to be read: then it is exactly the state of the store as
// of the last answer, with whole transactions in it. While changes come so fast that this does not
// happen for a tenth of a second, a view shows what has been read by then: every transaction up to its
// revision as a whole, and perhaps parts of later ones. States in between may be skipped. After a broken
// connection the subtree is read again and the difference is shown.
//
// The watches need a server of 3.6 or later, so one of 3.6 or 3.7 is let in, untested. go-zookeeper does
// not know them, so this package sends the two requests for them itself, on the client's connection.
//
// # Latches
//
// A latch is Curator's LeaderLatch: Java peers stand in the same line. They wait without a limit,
// on the one thread that hears of changes: hold a latch for one short callback. If another client
// deletes the holder's znode, the callback's context ends.
//
// # What binds a user who shares jobs with Java
//
// Beyond what the scheduler does by itself: nothing but jobs may stand directly below the
// namespace; a job's class name in its config must be the one that Java loads; 2.1.5 and 3.x must not
// share a job; and all need the same digest.
//
// # Limits, compared with etcd
//
//   - A request may have 1 MiB (jute.maxbuffer), values and paths and all. There is no limit of
//     operations. Beyond it the error is [registry.ErrTooLarge]; the server itself would drop the
//     connection without a word.
//   - An ephemeral node cannot have children: [registry.ErrUnsupported].
//   - A commit is two round trips, unless views show all that it concerns; on etcd it is one.
//   - List is not one state of the store; a view is.
//   - Paths must do without characters that ZooKeeper refuses: private use, and the specials above
//     U+FFF0.
//   - Servers look for expired sessions once a tick, so a death is noticed up to one tick after the
//     timeout. They grant 2 to 20 ticks: 4 to 40 s by default.
//   - The store has no quota of its own, so [registry.ErrNoSpace] comes only from quotas of a path.
//
// # Costs
//
// One connection for a handle, one goroutine for all its views and one for its session; one small
// request each sixth of the timeout. A view of 10,000 nodes takes as many reads, about a hundred of them
// at a time: half a second on a machine of its own.
//
// # What it does not do
//
// It starts no server, speaks TLS only through [Config.Dial], and knows no SASL.
package zkcompat
