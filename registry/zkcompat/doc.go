// Package zkcompat keeps the registry in an Apache ZooKeeper ensemble of version 3.8 or later. It uses the
// layout of Elastic-Job-Lite 2.1.5 and behaves as its instances do, so that Go and Java instances can share a
// job.
//
//	reg, err := zkcompat.Open(ctx, zkcompat.Config{
//		Servers:   []string{"10.0.0.1:2181", "10.0.0.2:2181", "10.0.0.3:2181"},
//		Namespace: "prod",
//		Digest:    "scheduler:secret",
//	})
//	if err != nil {
//		log.Fatal(err)
//	}
//	defer reg.Close(context.Background())
//
// # What is stored
//
// The node at a path is the znode "/<namespace><path>", which holds the node's value unchanged. An ephemeral
// node is an ephemeral znode; the id of its session is that of the ZooKeeper session. With
// [Config.Digest] the package creates every znode for that user alone (scheme "auth"), and without it for
// everybody (scheme "world"). The package creates missing parents together with a node, in the same
// transaction; they are persistent and empty, as Java's are. So it does with the namespace: who only reads creates none.
//
// ZooKeeper keeps parents when their children go, but the registry has no such parents. If an empty znode
// once had a child and nobody wrote to it after its creation, it counts as a parent, which is not a node. So a
// znode that Java creates empty and without children, as servers/<ip> or necessary, is a node. While a parent
// that Java created has not got its first child yet, it shows as an empty node for a moment. Deleting a
// subtree deletes parents too; if they are too many for one request, those without a node below them go before, in
// requests of their own. Deleting a node leaves its parents in place, because a Java leader relies on
// sharding/<item>.
//
// Two cases hardly occur in a job's tree: a node that is deleted while it has children, and a node that is put
// where only a parent stood. The package stores them in a form of their own, which begins with a zero byte. The exception is
// the name of a class that is put at a job's own path, where ElasticJob 3.x keeps it and reads it: it is stored unchanged, and
// its node counts as created when the parent was.
//
// # Where the guarantees come from
//
//   - Revisions are ZooKeeper's transaction ids: Created is czxid, Revision is mzxid. A commit that only
//     deletes learns no id; its revision is one that the server had reached when it answered.
//   - A transaction is done by one multi. The package takes the znodes that the transaction concerns from a view of
//     this handle, or reads them, and judges the conditions on them. Each operation of the multi then names the
//     version that the package saw, or creates what was absent. If a node is to stay absent, the multi creates
//     and deletes it, and no reader, view or peer ever sees it. If anything has changed, the multi fails as a
//     whole, and the package reads everything again, after a ballot. It refuses a transaction only because of a state that
//     was in force after the call began.
//   - A multi may have many transactions, of which none touches a path that another reads or writes, so they come to
//     what they would one after the other, and share a revision. If one of them makes it fail, the server says
//     which operation it was. That transaction goes on by itself, and the others go again without it; for a
//     while fewer go together. Only transactions of which views show all that they concern share a multi.
//   - When this package creates a znode, it creates it empty and sets it in the same multi. So the version is 1
//     where a Java peer's is 0, and the answer tells the revision.
//   - Reads have the servers commit something first that changes nothing (a ballot, see Sessions), so they show every
//     commit that was answered before. ZooKeeper's sync would not do: a leader that the others have deposed, and that has
//     not noticed yet, answers it, and does not know what they have committed since. List reads node by node: it contains
//     all commits up to its revision, and perhaps parts of later ones.
//   - If the connection breaks while a multi is under way, its outcome is unknown. The package finds it out on
//     the next connection, after a ballot, as backend.Settle says. A transaction that its own writes make false is done
//     at most once; any other may be done again. If the server dropped the session while a transaction was
//     under way, the transaction cannot be done any more: if nothing of it is there, it was not done. In a
//     session that this process gave up (registry.Session.Abandon), the server may still do it: that is unknown.
//
// # What a version cannot tell
//
// ZooKeeper compares versions. A version starts again at 0 when a znode is created anew, and ZooKeeper cannot
// compare the creation of a znode or its owner. The package judges Unchanged, CreatedAt and NotOwnedBy on what
// it read, and the multi then checks the version. So one race is left. It happens if another client deletes the
// znode, creates it anew and brings it to the same version between the reading and the multi, which is usually
// less than a millisecond; if a view had the znode, between the last event and the multi.
//
// The race cannot concern a node of this process's own session: whoever else creates the node has another
// session, and when this one is over its multi fails. Nor can two creators win, because a create only creates.
//
// The race can concern persistent nodes that clients delete and create instead of setting them, with the same
// number of writes since. Go instances set the nodes that they compare. A resharding of a Java leader deletes
// and creates sharding/<item>/instance, at version 0 every time, so a begin may be compared with an assignment
// that has just been replaced. The race can also concern nodes of other sessions, such as the mark of a run that
// another process ended, if a third process began a run meanwhile. The records that every transaction of Go
// sets protect these nodes (docs/protocol.md).
//
// # Sessions
//
// A handle has one ZooKeeper session, on one connection. The package counts the deadline of a [registry.Session] from the
// moment when it sent something that a quorum of the servers has committed afterwards: an own transaction or, if there was
// none for a sixth of the timeout, a ballot. That is a multi which only checks that "/" is there. It changes no znode, fires
// no watch, and needs no permission: the servers commit it also for a client that may not read "/".
//
// Nothing less proves the session. A server that is cut off from the leader answers the client's pings. A leader that the
// others have deposed goes on answering, for up to syncLimit ticks and one more: also a sync, and the greeting of a
// client that connects again. Meanwhile the new leader gives each session one timeout from its election, and ends it then.
// A quorum that commits something for the old leader has elected no other one yet, so that timeout begins after the commit.
//
// A broken connection suspends the session at once. If the connection comes back in time, the session goes on for what is
// left of its proved time, and is as before with the first proof: peers see no crash. If it comes back after the local deadline
// and the server still has the session, a new [registry.Session] of the same id takes it up, with its nodes. If
// the server has dropped the session, another session follows on a client of its own: the package never sends
// in one session what was meant for another.
//
// If answers come, but so late that the session is lost meanwhile, the connection is replaced: a new one is not held
// up by what waits on the old one. If the new one is as slow, because a large subtree has to come first, it is given
// twice the time, and so on. All the while the server hears of the process, however late, and keeps the
// session. So the process does not wait for the session to time out: it takes the session up again and ends what
// stands there under its name. A session is never closed at the server because it was lost here: what is under way in it
// may still have to be ended, and what runs stays marked until its code has returned.
//
// After an outage of the whole ensemble the servers give every session its full timeout again. So if a process
// died during the outage, its nodes stay for that long. Choose a timeout of three ticks or more: servers tell
// the leader every half tick which sessions live, and this must fit into the sixth of the timeout by which this
// process stops early.
//
// All servers must grant the same: tickTime, minSessionTimeout and maxSessionTimeout are to be equal. A server that is asked
// for the session again has the leader cut it to what it grants itself before it answers, and the answer may get lost. So a
// handle counts all its sessions for the shortest time that any server has granted it, and a session that was granted more is
// over here when a server grants less. That is no help against a server of which the handle has never heard.
//
// Local sessions (localSessionsEnabled) own no nodes. With localSessionsUpgradingEnabled they become others when they have to;
// without, what creates an ephemeral node ends with [registry.ErrUnsupported].
//
// # Views
//
// A view is a recursive watch and a read of the subtree. The server reports that a znode has changed, but not what
// to. If another client changed it, the view reads it, with all else that has changed meanwhile in one request. If
// this handle did, the answer to its multi tells, and nothing is read. A server reports a change to a client before
// it gives it any answer that reflects the change. A view moves on when no reported change waits to be looked
// into: then it is exactly the state of the store as of the last answer, with whole transactions in it. If changes
// come so fast that this does not happen for a tenth of a second, a view shows what it has read by then: every
// transaction up to its revision as a whole, and perhaps parts of later ones. It may skip states in between. Of znodes that
// another client deleted it tells the transaction ([registry.Change].Removed): servers of 3.9 or later say it with the event.
// For servers before it reads the parents when two ephemeral znodes of a session are gone, whose pzxid stands for it. After
// a broken connection the view reads the subtree again and shows the difference: from a server that knows all that this
// handle has seen, and only when a sync has been answered.
//
// A view of parts, see [registry.ViewParts], is one of the whole subtree of which the rest is left out here: a recursive
// watch leaves nothing out.
//
// The watches, and reads of many znodes, need a server of 3.6 or later. The package lets servers of 3.6 and 3.7 in,
// but they are not tested. go-zookeeper knows neither, so this package sends these requests itself, on the client's
// connection, and those multis whose answers views take in order with the events.
//
// # Latches
//
// A latch is Curator's LeaderLatch, and Java peers stand in the same line. They wait without a limit,
// on the one thread that hears of changes: hold a latch only for one short callback. If another client
// deletes the holder's znode, the callback's context ends.
//
// # Sharing jobs with Java
//
// The scheduler does most of what is needed. The rest is up to you:
//
//   - Put nothing but jobs directly below the namespace.
//   - Set a job's class name in its config to the class that Java loads.
//   - Do not share a job between 2.1.5 and 3.x.
//   - Give all processes the same digest.
//
// # Limits, compared with etcd
//
//   - A request may have 1 MiB (jute.maxbuffer), including values and paths. The number of operations has no
//     limit. If a request is larger, the error is [registry.ErrTooLarge]; the server itself would drop the
//     connection without a word.
//   - The ephemeral nodes of a session may have paths of 960 KiB, and the first ones in each subtree directly below
//     the namespace, which is a job, a third of that: who takes part in a job is to have room to lead it and to run
//     its items. Beyond, a transaction ends with [registry.ErrNoSpace], until others of the session have gone. When
//     a session ends, the servers write all these paths into one transaction, whatever its size. They do not read
//     one again that is larger than jute.maxbuffer and jute.maxbuffer.extrasize together, each 1 MiB less a byte by
//     default: then none can load its data any more. So do not set them lower. A handle counts its own session
//     alone. Other clients have no such limit: Java's hold as much. A server with
//     -Dzookeeper.closeSessionTxn.enabled=false writes no such transaction; if there is one already, all servers of
//     the ensemble come back with a larger -Djute.maxbuffer.
//   - An ephemeral node cannot have children: [registry.ErrUnsupported].
//   - A commit is two round trips, and one more if it is refused, unless views show all that it concerns, as those of a
//     scheduler do; then it is one, as on etcd.
//   - List is not one state of the store; a view is.
//   - Paths must not contain characters that ZooKeeper refuses: private use, and the specials above
//     U+FFF0.
//   - Servers look for expired sessions once a tick, so others notice a death up to one tick after the
//     timeout. Servers grant 2 to 20 ticks: 4 to 40 s by default.
//   - A single server that was restored from a backup, or wiped, lets no handle in that has seen later transactions. An
//     ensemble does, as an election begins a higher epoch: a handle goes on with what the backup holds, and cannot tell.
//     Stop all processes before a restore.
//   - The store has no quota of its own, so [registry.ErrNoSpace] comes only from quotas of a path, and from the limit of a
//     session.
//
// # Costs
//
// A handle has one connection, and a goroutine each for its views, its session and its transactions. One that writes nothing
// has the servers commit a ballot each sixth of the timeout, of 78 bytes in their logs: with sessions of 10 s, a hundred idle
// processes write 60 of them a second, and 400 MB a day. Each read, and each refused transaction, takes one as well. A
// view of 10,000 nodes takes some two hundred requests, those of a level of the tree at a time.
//
// Transactions of which views show all that they concern go together: up to four multis are under way, of up to
// 256 transactions each, and of little more than 64 KiB. What comes meanwhile gathers for the next one. So a round
// of a job with ten items is two requests, as on etcd, and what many jobs begin at once takes 0.03 requests an
// execution. A process that views a job is told of seven changes for each execution, and reads those of other
// processes up to 128 at a time. BenchmarkStores of integration/bench measures this beside etcd.
//
// # What it does not do
//
// It starts no server, speaks TLS only through [Config.Dial], and knows no SASL.
package zkcompat
