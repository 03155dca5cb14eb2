package etcd

// The files of the package, for those who change it.
//
// A handle is made by open.go and config.go, with version.go, login.go and rootcas.go for what comes before the first request,
// and ended by close.go. Its members are balancer.go and members.go: which of them a call goes to; and clusterid.go: which of
// them are of its cluster. sessionkeeper.go and keepalive.go keep its session.
//
// A commit:
//
//	commit.go                     the call, and which transactions of one call may be under way at once
//	queue.go                      commits wait in lanes for a request that has room for them
//	request.go, footprint.go      a request in the making: what may share it
//	group.go, txn.go              its parts, and how they are encoded
//	send.go, transact.go          it is sent; each commit hears how it went, or needs another try
//	conflict.go, nospace.go       what a refusal, or a full store, says of each commit; package backend settles lost answers
//
// A read: read.go, and shared.go for those that travel together; servertime.go asks for the time.
//
// A view:
//
//	view.go, viewparts.go         a view, of a subtree or of some parts of one; its follower, or the joint of several
//	hub.go                        which watch brings what to whom
//	watch.go, dispatch.go         one watch: it goes on after broken connections and compactions, and tells its followers
//	watcher.go                    the streams of watches, and answers that not every watch may be shown
//	wants.go, owncommits.go       somebody waits for a revision: how far the watches are
//	watchdog.go, outdated.go      streams that are silent, or whose token is not taken any more, are left
//
// A latch: latch.go, candidate.go and electionsession.go; pathmutex.go for turns within the process, retrykv.go for what must
// be answered, and sweeper.go for tickets that nobody stands with.
//
// How long a try gets, and when it is repeated: retrypolicy.go and latency.go. What an error says: errors.go and explain.go.
// What is made often, with few allocations: codec.go and slab.go. keys.go alone makes and cuts keys.
